/** The names of the processes of a service, which their logs, pid files and folders carry: `management`, `management-2`, … */
export const replicaNames = (service: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => (index === 0 ? service : `${service}-${index + 1}`));
