import { addressVariableOf, callersOf, namesOf, serviceRoleOf, youngGenerationMbOf } from './derive.ts';
import { publicHosts, secretsInFiles, type Manifest, type PublicHost, type ServiceEntry } from './service-entry.ts';

/** What the Helm chart knows about a service. Every list is there, empty or not, because templates loop over them. */
interface ChartService {
  readonly name: string;
  readonly youngGenerationMb: number;
  readonly database?: { readonly schema: string; readonly serviceRole: string };
  readonly grpc: boolean;
  readonly routes: readonly { readonly host: PublicHost; readonly paths: readonly string[] }[];
  readonly calls: readonly { readonly service: string; readonly variable: string }[];
  readonly callers: readonly string[];
  readonly secretFiles: readonly string[];
  readonly secretTexts: readonly string[];
  readonly folders: readonly { readonly variable: string; readonly name: string; readonly lasts: boolean }[];
  readonly files: readonly { readonly variable: string; readonly path: string }[];
  readonly redis: boolean;
  /** Whether it publishes, follows or keeps the topics of the event bus. */
  readonly bus: boolean;
  readonly objects: boolean;
  readonly presigns: boolean;
  readonly reachesInternet: boolean;
}

const pairs = (record: Readonly<Record<string, string>> = {}) => Object.entries(record);

const usesBus = ({ redis: { publishes = [], follows = [], keys = [] } = {} }: ServiceEntry): boolean =>
  publishes.length + follows.length > 0 || keys.includes('bus:*');

/** The manifest as the chart reads it, `helm/longwave/files/services.json`. */
export const chartServices = <S extends string>(manifest: Manifest<S>): readonly ChartService[] =>
  namesOf(manifest).map((name) => {
    const entry: ServiceEntry<S> = manifest[name];
    const { schema, http = {}, lastingFolders = [] } = entry;
    return {
      name,
      youngGenerationMb: youngGenerationMbOf(entry),
      ...(schema !== undefined && { database: { schema, serviceRole: serviceRoleOf(schema) } }),
      grpc: entry.grpc,
      routes: publicHosts.flatMap((host) => (http[host] ? [{ host, paths: http[host] }] : [])),
      calls: entry.calls.map((service) => ({ service, variable: addressVariableOf(service) })),
      callers: callersOf(manifest, name),
      secretFiles: entry.secrets.filter((secret) => secretsInFiles.includes(secret)),
      secretTexts: entry.secrets.filter((secret) => !secretsInFiles.includes(secret)),
      folders: pairs(entry.folders).map(([variable, folder]) => ({
        variable,
        name: folder,
        lasts: lastingFolders.includes(variable),
      })),
      files: pairs(entry.files).map(([variable, path]) => ({ variable, path })),
      redis: entry.redis !== undefined,
      bus: usesBus(entry),
      objects: entry.objects !== undefined,
      presigns: entry.presigns ?? false,
      reachesInternet: entry.reachesInternet ?? false,
    };
  });
