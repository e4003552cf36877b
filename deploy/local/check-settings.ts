/** Refuses wrong settings of `npm start` before anything is built for it; needs no generated code. */
import { settingsOfProcess } from './settings-of-process.ts';

settingsOfProcess();
