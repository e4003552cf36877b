/**
 * The environment of a program that inherits nothing of the test but where programs are, where Node keeps compiled code, and that the apps
 * are built.
 */
export const bareEnvironment: NodeJS.ProcessEnv = {
  PATH: process.env['PATH'],
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
  NX_TASK_TARGET_TARGET: process.env['NX_TASK_TARGET_TARGET'],
};
