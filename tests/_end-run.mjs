/** Jest's global teardown: ends what `_run.mjs` began. */
export default () => globalThis.endRun();
