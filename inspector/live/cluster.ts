/**
 * The live source: this node's views, put together with those of the nodes that it is connected to.
 *
 * Other nodes are asked over the links that exist, and answer with what their own options allow; one that does not
 * answer, or has no inspector on, is named as missing. An actor is asked for where it is hosted.
 */

import { isWholeAddress, placeOf } from '../../runtime/base/address.ts';
import { excerpt, messageOf, RuntimeError } from '../../runtime/base/errors.ts';
import { knob } from '../../runtime/base/knob.ts';
import { type Lookup, messagesOf, type Parameters, textOf, timelineOf, whyOf } from '../lookup.ts';
import type { ActorsPage, ActorsQuery, FleetView, Missing } from '../protocol.ts';
import type { Evidence } from '../why.ts';
import { usualDwells } from './histories.ts';
import { mergeActors, placesOf } from './merged-actors.ts';
import { MERGES, type Part } from './merges.ts';
import { addressOf, type NodeViews, VIEW_NAMES } from './node-views.ts';

/** Time that another node has for its part of an answer. */
const ASK_MS = knob('inspectorAskMs', 2_000);
/** Rows of a list where nobody says how many. */
const ROWS_USUAL = 100;
/** Nodes that are asked for one answer. */
const NODES_MAX = 64;

export class ClusterViews implements Lookup {
  readonly #views: NodeViews;
  readonly #isWhole: boolean;

  /** `isWhole`: other nodes are asked too. */
  constructor(views: NodeViews, isWhole: boolean) {
    this.#views = views;
    this.#isWhole = isWhole;
  }

  now(): number {
    return this.#views.context.now();
  }

  /** @throws {RuntimeError} what the view throws, and OPTION_INVALID for a path that is none */
  async query(path: string, parameters: Parameters): Promise<object> {
    const at = this.now();
    if (path === 'timeline') return timelineOf(this, parameters);
    if (path === 'messages') return messagesOf(this, parameters);
    if (path === 'why') {
      const address = addressOf(parameters);
      const answer = await whyOf(this, address);
      if (answer !== undefined) return answer;
      throw new RuntimeError('ACTOR_UNKNOWN', `There is no actor ${address}.`, { address });
    }
    if (path === 'actor' || path === 'can' || path === 'turns')
      return { at, ...(await this.#ofHost(path, parameters)) };
    if (path === 'definition') return this.#definition(parameters);
    if (path === 'actors') return { at, ...(await this.#actors(parameters)) };
    const merge = MERGES[path];
    if (merge === undefined || !VIEW_NAMES.has(path))
      throw new RuntimeError('OPTION_INVALID', `There is no view "${path}".`);
    const { parts, missing } = await this.#all(path, () => parameters);
    return { at, ...merge(parts, parameters), missing };
  }

  async actors(query: ActorsQuery): Promise<ActorsPage> {
    return (await this.query('actors', query as Parameters)) as ActorsPage;
  }

  async evidence(address: string): Promise<Evidence | undefined> {
    const { evidence } = (await this.#ofHost('evidence', { address })) as { evidence?: Evidence };
    return evidence;
  }

  chart(kind: string) {
    return this.#views.context.definition(kind)?.chart;
  }

  async usual(kind: string): Promise<ReadonlyMap<string, number>> {
    return usualDwells(this.#views.view('usual', { kind }) as Pick<FleetView, 'states'>);
  }

  /** Nodes that are asked beside this one. */
  others(): readonly string[] {
    return this.#isWhole ? this.#views.context.watch.peers().slice(0, NODES_MAX) : [];
  }

  /** View of the node that hosts an actor. */
  async #ofHost(path: string, parameters: Parameters): Promise<object> {
    const address = addressOf(parameters);
    const { context } = this.#views;
    if (!isWholeAddress(address))
      throw new RuntimeError('ADDRESS_MALFORMED', `${excerpt(address)} is no kind/key@place.`);
    if (context.isHere(address)) return this.#views.view(path, parameters) as object;
    const host = context.watch.hostOf(placeOf(address));
    if (host === undefined)
      throw new RuntimeError('ASK_LOST', `Nobody is connected who hosts "${placeOf(address)}".`, {
        address,
      });
    return this.#ask(host, path, parameters);
  }

  /** A kind that is not registered here is asked for elsewhere. */
  async #definition(parameters: Parameters): Promise<object> {
    const kind = textOf(parameters, 'kind') ?? '';
    const hash = textOf(parameters, 'hash');
    const own = this.#views.context.definition(kind);
    if (own !== undefined && (hash === undefined || own.chart.hash === hash)) return own;
    const { parts } = await this.#all('definition', () => parameters);
    const found = parts
      .map(({ view }) => view as { chart: { hash: string } })
      .find(({ chart }) => hash === undefined || chart.hash === hash);
    if (found !== undefined) return found;
    if (own !== undefined) return own;
    throw new RuntimeError('KIND_UNKNOWN', `No connected node has registered kind "${kind}".`);
  }

  /** A page of all nodes; of one alone its own page. */
  async #actors(parameters: Parameters): Promise<object> {
    const others = this.others();
    if (others.length === 0) {
      const page = this.#views.view('actors', parameters) as object;
      return { ...page, missing: [] };
    }
    const { cursor: _, ...query } = parameters;
    const places = placesOf(textOf(parameters, 'cursor'));
    // After the first page only the nodes that have more.
    const nodes = [this.#views.context.node, ...others].filter(
      (node) => places === undefined || places[node] !== undefined,
    );
    const { parts, missing } = await this.#all(
      'actors',
      (node) => {
        const cursor = places?.[node]?.cursor;
        return { ...query, ...(cursor !== undefined && { cursor }) };
      },
      nodes,
    );
    const pages = parts.map(({ node, view }) => ({ node, page: view as ActorsPage }));
    const limit = Number(textOf(parameters, 'limit') ?? ROWS_USUAL);
    return { ...mergeActors(pages, places, query as ActorsQuery, limit), missing };
  }

  async #all(
    path: string,
    parametersFor: (node: string) => Parameters,
    nodes: readonly string[] = [this.#views.context.node, ...this.others()],
  ): Promise<{ parts: Part[]; missing: Missing }> {
    const { context } = this.#views;
    const missing: Array<{ node: string; why: string }> = [];
    const one = async (node: string, view: () => unknown): Promise<Part[]> => {
      try {
        return [{ node, view: (await view()) as object }];
      } catch (thrown) {
        if (thrown instanceof RuntimeError && thrown.code === 'OPTION_INVALID') throw thrown;
        missing.push({ node, why: messageOf(thrown) });
        return [];
      }
    };
    const parts = await Promise.all(
      nodes.map((node) =>
        one(node, () =>
          node === context.node
            ? this.#views.view(path, parametersFor(node))
            : this.#ask(node, path, parametersFor(node)),
        ),
      ),
    );
    return { parts: parts.flat(), missing };
  }

  async #ask(node: string, path: string, parameters: Parameters): Promise<object> {
    const answer = await this.#views.context.watch.askInspector(
      node,
      { path, parameters },
      ASK_MS.value,
    );
    if (typeof answer === 'object' && answer !== null) return answer;
    throw new RuntimeError(
      'ENVELOPE_MALFORMED',
      `${node} answers in a way that is not known here.`,
    );
  }
}

/** What answers the inspectors of other nodes: views, and nothing that changes anything. */
export function responderOf(views: NodeViews): (query: unknown) => Promise<unknown> {
  return async (query) => {
    const { path, parameters } = (query ?? {}) as { path?: unknown; parameters?: unknown };
    if (typeof path !== 'string' || !VIEW_NAMES.has(path))
      throw new RuntimeError('OPTION_INVALID', 'There is no such view here.');
    return views.view(path, parametersOf(parameters));
  };
}

/** Parameters that came from another node: texts and lists of texts. */
function parametersOf(value: unknown): Parameters {
  if (typeof value !== 'object' || value === null) return {};
  const isText = (one: unknown): one is string => typeof one === 'string' && one.length <= 4_096;
  return Object.fromEntries(
    Object.entries(value).filter(
      ([, one]) => isText(one) || (Array.isArray(one) && one.length <= 100 && one.every(isText)),
    ),
  ) as Parameters;
}
