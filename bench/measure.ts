/**
 * Measures one field in this process and prints what came out, as one line of JSON.
 *
 * Run by main.ts: `node --expose-gc measure.js SUITE FIELD OPTIONS`.
 */

import { SUITES } from './suites.ts';

const [suiteName, fieldName, options = '{}'] = process.argv.slice(2);
const field = SUITES.find(({ name }) => name === suiteName)?.fields.find(
  ({ name }) => name === fieldName,
);
if (field === undefined) throw new Error(`There is no field ${suiteName}/${fieldName}.`);

const measured = await field.measure({
  ...JSON.parse(options),
  progress: (line) => process.stderr.write(`${line}\n`),
});
process.stdout.write(`${JSON.stringify(measured)}\n`, () => process.exit(0));
