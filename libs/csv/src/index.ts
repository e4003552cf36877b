export { createRowReader, findDelimiter, type CsvRow } from './csv-rows.ts';
