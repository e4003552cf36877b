/** What auth-server takes as the way back (`return_to`): a path of this origin in visible ASCII, at most so long. */
const pathMax = 2000;

/** The address at which a person signs in and comes back to a path of the console, or to its first page where auth-server would not take the path. */
export const signInAddress = (path: string): string => {
  const isTaken = /^\/(?![/\\])[\x21-\x7e]*$/.test(path) && path.length <= pathMax;
  return `/sign-in?return_to=${encodeURIComponent(isTaken ? path : '/')}`;
};
