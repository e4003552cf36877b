export { csvCell, csvLine, isFormula } from './csv-line.ts';
export { createRowReader, findDelimiter, type CsvRow } from './csv-rows.ts';
