/** The environment of a program that inherits nothing of the test but where programs are and where Node keeps compiled code. */
export const bareEnvironment: NodeJS.ProcessEnv = {
  PATH: process.env['PATH'],
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
};
