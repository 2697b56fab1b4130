/**
 * Submission reader: each workflow is checked as soon as it has arrived.
 *
 * What is wrong with one of ten thousand workflows is said when it comes, without the rest; of the
 * body no more than one workflow is held as text.
 */

import { z } from 'zod';
import {
  jobTerms,
  WORKFLOWS_MAX,
  type WorkflowSpec,
  workflowSpec,
} from '../machines/jobs/messages/client.ts';
import { id, PAYLOAD_BYTES_MAX } from '../machines/jobs/messages/fields.ts';
import type { NewJob } from '../programs/jobs/index.ts';
import { JsonReader, type JsonShape } from './json-reader.ts';
import { invalid } from './refusal.ts';
import { read } from './schema.ts';

/** A payload of nothing but escapes, and the names of all other workflows. */
const WORKFLOW_LENGTH_MAX = 2 * 1024 * 1024;

const optionalJobId = z.strictObject({ jobId: id.optional() });

export class SubmissionReader {
  readonly #json: JsonReader;
  readonly #terms: Record<string, unknown> = {};
  readonly #workflows: WorkflowSpec[] = [];

  constructor(shape: Pick<JsonShape, 'depthMax' | 'keysMax' | 'stringBytesMax'>) {
    const longTexts = { payload: PAYLOAD_BYTES_MAX };
    this.#json = new JsonReader(
      { ...shape, longTexts, partLengthMax: WORKFLOW_LENGTH_MAX },
      {
        isList: (name) => name === 'workflows',
        entry: (_name, value, index) => this.#take(value, index),
        member: (name, value) => {
          this.#terms[name] = value;
        },
      },
    );
  }

  /** @throws {HttpRefusal} invalid */
  push(text: string): void {
    this.#json.push(text);
  }

  /** @throws {HttpRefusal} invalid */
  end(): NewJob {
    this.#json.end();
    const { jobId, workflows, ...terms } = this.#terms;
    if (workflows !== undefined) throw invalid('It must be a list.', 'workflows');
    if (this.#workflows.length === 0)
      throw invalid(`There must be 1 to ${WORKFLOWS_MAX} workflows.`, 'workflows');
    const named = read(optionalJobId, jobId === undefined ? {} : { jobId });
    return { ...read(jobTerms, terms), ...named, workflows: this.#workflows } as NewJob;
  }

  #take(value: unknown, index: number): void {
    if (index >= WORKFLOWS_MAX)
      throw invalid(`There must be 1 to ${WORKFLOWS_MAX} workflows.`, 'workflows');
    this.#workflows.push(read(workflowSpec, value, `workflows[${index}]`));
  }
}
