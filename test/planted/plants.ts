/** All planted bugs that runs of the jobs system, of agents, of map-reduce or of a test must find, in the order of their ids. */

import { agentPlants } from './agents.ts';
import { answerPlants } from './answers.ts';
import { claimPlants } from './claims.ts';
import { cleanupPlants } from './cleanup.ts';
import { deliveryPlants } from './delivery.ts';
import { extensionPlants } from './extensions.ts';
import { fallbackPlants } from './fallback.ts';
import { fencePlants } from './fence.ts';
import { gatePlants } from './gate.ts';
import { gateContactPlants } from './gate-contact.ts';
import { httpCallerPlants } from './http-callers.ts';
import { leaderPlants } from './leaders.ts';
import { lifePlants } from './lives.ts';
import { mapReducePlants } from './mapreduce.ts';
import { overloadPlants } from './overload.ts';
import type { Plant } from './plant.ts';
import { productionPlants } from './production.ts';
import { recordPlants } from './records.ts';
import { storePlants } from './store.ts';
import { timePlants } from './time.ts';
import { trackRecordPlants } from './track-record.ts';
import { workPlants } from './work.ts';

export const PLANTS: readonly Plant[] = [
  ...timePlants,
  ...fencePlants,
  ...gatePlants,
  ...fallbackPlants,
  ...deliveryPlants,
  ...extensionPlants,
  ...cleanupPlants,
  ...storePlants,
  ...trackRecordPlants,
  ...productionPlants,
  ...httpCallerPlants,
  ...overloadPlants,
  ...claimPlants,
  ...workPlants,
  ...gateContactPlants,
  ...answerPlants,
  ...lifePlants,
  ...recordPlants,
  ...leaderPlants,
  ...agentPlants,
  ...mapReducePlants,
];
