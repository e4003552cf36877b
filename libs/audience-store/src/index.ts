export { columns, type Columns, type JsonRows, type Rows } from './generated/rows.ts';
export { completeUntilMs, newestOwnFact, readWatermarks, settlingMs } from './complete-until.ts';
export { readKeptFrom } from './kept-from.ts';
export { parseMultirange, renderMultirange } from './multirange.ts';
export { factColumns, factOf, partsOf, type FactRow, type StoredParts } from './stored-fact.ts';
