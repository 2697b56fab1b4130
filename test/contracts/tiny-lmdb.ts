/** Knobs of the LMDB store, which no simulated run has, as its contract suite is run a second time with. */

export const TINY_LMDB: Readonly<Record<string, number>> = {
  lmdbEntriesCheckedMax: 1,
  lmdbFoldBytesMore: 1,
  lmdbHeadsGenerationMax: 1,
  lmdbHistoryBytesAtFirst: 64,
  lmdbPackedBodyBytesMax: 1_000,
  lmdbPatternBytesMax: 100,
  lmdbPatternRecordsBetween: 1,
  lmdbPatternSampleBytesMax: 50,
  lmdbPatternSampleBytesMin: 20,
  lmdbPatternsMax: 4,
  lmdbPatternsPerKindMax: 3,
  lmdbPatternsRoomBytes: 1,
  lmdbSlabBytesAtFirst: 64,
  lmdbSlabBytesKeptMax: 64,
};
