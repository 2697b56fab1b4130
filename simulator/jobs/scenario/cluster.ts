/**
 * The cluster of a scenario file: its topology, its network, its configuration.
 *
 * Guarantees: what is returned can be built. Every datacenter has a manager and a name that no node
 * has; every option is known and in its range, and no two of them contradict each other.
 */

import {
  JOBS_OPTIONS,
  type JobsConfiguration,
} from '../../../programs/jobs/configuration/options.ts';
import { JOBS_RELATIONS } from '../../../programs/jobs/configuration/relations.ts';
import type { Field } from '../../../reading/field.ts';
import { brokenRelations, completed } from '../../../runtime/base/option.ts';
import { DATACENTER_PATTERN, isTakenName } from '../names.ts';
import type { DatacenterTopology, NetworkPlan, Topology } from '../plan.ts';
import type { ScenarioLimits } from './limits.ts';

const DELAY_MS = 1;
/** A frame that takes longer has been lost. */
const DELAY_MAX_MS = 3_600_000;
const SHARE = { min: 0, max: 1 };

export function readTopology(field: Field, limits: ScenarioLimits): Topology | undefined {
  const keys = field.record({ gates: false, datacenters: true });
  if (keys?.datacenters === undefined) return undefined;
  const counts = { min: 0, max: limits.nodesMax };
  const gates = keys.gates?.whole(counts) ?? 0;
  const datacenters: Record<string, DatacenterTopology> = {};
  for (const [name, entry] of keys.datacenters.entries()) {
    if (!DATACENTER_PATTERN.test(name))
      entry.wrong('must have a name of letters, digits, "_" and "-", at most 64');
    else if (isTakenName(name)) entry.wrong('must not have a name that nodes have');
    else datacenters[name] = readDatacenter(entry, limits);
  }
  const all = Object.values(datacenters);
  if (keys.datacenters.isMap && keys.datacenters.entries().length === 0)
    keys.datacenters.wrong('must have a datacenter');
  if (all.length > limits.datacentersMax)
    keys.datacenters.wrong(`must have at most ${limits.datacentersMax} datacenters`);
  const nodes = all.reduce((sum, { managers, workers }) => sum + managers + workers, gates);
  if (nodes > limits.nodesMax)
    return field.wrong(`must have at most ${limits.nodesMax} nodes, got ${nodes}`);
  return { gates, datacenters };
}

function readDatacenter(field: Field, { nodesMax }: ScenarioLimits): DatacenterTopology {
  const keys = field.record({ managers: false, workers: false });
  return {
    managers: keys?.managers?.whole({ min: 1, max: nodesMax }) ?? 1,
    workers: keys?.workers?.whole({ min: 0, max: nodesMax }) ?? 1,
  };
}

export function readNetwork(field: Field | undefined): NetworkPlan {
  const keys = field?.record({ delay: false, loss: false, duplicate: false, reorder: false });
  return {
    delayMs: readDelay(keys?.delay),
    loss: keys?.loss?.number(SHARE) ?? 0,
    duplicate: keys?.duplicate?.number(SHARE) ?? 0,
    reorder: keys?.reorder?.number(SHARE) ?? 0,
  };
}

function readDelay(field: Field | undefined): NetworkPlan['delayMs'] {
  const range = { min: 0, max: DELAY_MAX_MS };
  const usual: NetworkPlan['delayMs'] = [DELAY_MS, DELAY_MS];
  if (field === undefined) return usual;
  if (!field.isList) {
    const delayMs = field.duration(range);
    return delayMs === undefined ? usual : [delayMs, delayMs];
  }
  const [least, most, ...others] = field.items().map((item) => item.duration(range));
  if (least === undefined || most === undefined || others.length > 0 || least > most) {
    field.wrong('must be a duration, or two of them, the shorter one first');
    return usual;
  }
  return [least, most];
}

export function readConfig(field: Field | undefined): Partial<JobsConfiguration> {
  const config = field?.options(JOBS_OPTIONS) ?? {};
  // What two options say together can be looked at only where each is good.
  if (Object.keys(config).length < (field?.entries().length ?? 0)) return {};
  const complete = completed<JobsConfiguration>(config, JOBS_OPTIONS);
  for (const { what } of brokenRelations(complete, JOBS_RELATIONS)) field?.wrong(what);
  return config as Partial<JobsConfiguration>;
}
