import { isIP } from 'node:net';
import { parseAddressRange } from '@longwave/audience';
import { isCookieOrigin } from '@longwave/principal';
import { commonConfig } from '@longwave/service-kit';
import { z } from 'zod';

const settingText = z.object({
  description: z.string(),
  /** Continues “expected …”. */
  expected: z.string(),
  /** The default in words, where the schema has none. */
  defaultText: z.string().optional(),
  /** Is never shown, and is no option, because others see the options of a process. */
  secret: z.literal(true).optional(),
});
type SettingText = z.output<typeof settingText>;

const setting = <S extends z.ZodType>(schema: S, text: SettingText): S => schema.meta({ ...text });

const isOrigin = (text: string) => {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/` && !text.includes('?');
};

const isRange = (text: string) => {
  try {
    parseAddressRange(text);
    return !text.includes(',');
  } catch {
    return false;
  }
};

const origin = z
  .url()
  .refine(isOrigin)
  .transform((text) => new URL(text).origin);
const expectedOrigin = 'an address such as https://pod.example, without a path';
const page = z.url({ protocol: /^https?$/ }).optional();
const expectedPage = 'the address of a page, https://…';

const apart = (host: string, purpose: string) =>
  setting(origin.optional(), {
    description: `Public address of ${purpose}.`,
    expected: expectedOrigin,
    defaultText: `\`${host}.\` in front of the host of \`public_url\``,
  });

/** The settings of `npm start` by name: members of the file, and, in capitals after `LONGWAVE_`, variables. */
export const settings = {
  public_url: setting(origin.refine(isCookieOrigin).optional(), {
    description:
      'Public address of pages, sign-in and the REST API: `{base_url}`. The other public addresses are derived from it: `mcp.`, `api.`, `media.` and `objects.` in front of its host.',
    expected:
      'an address such as https://pod.example, without a path; http is for this machine alone, because sessions are cookies',
    defaultText: '`http://localhost:8080`, and neighbouring ports for the others',
  }),
  mcp_url: apart('mcp', 'agents, `{mcp_url}`'),
  api_url: apart('api', 'the ad server APIs, `{api_url}`'),
  media_url: apart('media', 'feeds and audio, `{media_url}`'),
  objects_url: apart('objects', 'the object store: addresses of uploads and downloads carry it'),
  listen: setting(
    z
      .string()
      .refine((text) => text === 'localhost' || isIP(text) !== 0)
      .default('127.0.0.1'),
    {
      description:
        'The address that the five public ports are bound to; `0.0.0.0` is every address of the machine. All other ports are bound to 127.0.0.1 always.',
      expected: 'an IP address of this machine, such as 127.0.0.1 or 0.0.0.0',
    },
  ),
  port_base: setting(z.int().min(1).max(65_531).default(8080), {
    description:
      'Port of pages, sign-in and the REST API. The next ones are for agents, ad server APIs, feeds and audio, and uploads.',
    expected: 'a whole number from 1 to 65531',
  }),
  metrics_port_base: setting(z.int().min(1).max(65_526).optional(), {
    description:
      'Port of health and metrics (`/healthz`, `/readyz`, `/metrics`) of the first service, on 127.0.0.1; the next eight are those of the others. For a Prometheus that looks here.',
    expected: 'a whole number from 1 to 65527',
    defaultText: 'free ports at every start',
  }),
  trusted_proxies: setting(z.array(z.string().refine(isRange)).optional(), {
    description: 'Proxies whose `X-Forwarded-For` names the client: addresses or `address/bits`.',
    expected: 'a list of addresses or address/bits',
    defaultText:
      '`127.0.0.1/32` and `::1/128` where `public_url` is set and `listen` is an address that only this machine reaches, else none',
  }),
  proxy_protocol: setting(z.enum(['on', 'off']).default('off'), {
    description:
      'Whether each connection to a public port, but that of uploads, must come from `trusted_proxies` and begin with a header of the PROXY protocol, whose address is then that of the client.',
    expected: '“on” or “off”',
  }),
  data: setting(z.string().min(1).optional(), {
    description: 'Folder of all data.',
    expected: 'a folder',
    defaultText: '`.longwave` in the repository',
  }),
  plans_file: setting(z.string().min(1).optional(), {
    description: '[Plans](plans.md) of your own.',
    expected: 'a file',
    defaultText: 'the plans of Longwave',
  }),
  fetch_allow_origins: setting(z.array(origin).optional(), {
    description: 'Origins that may be fetched although they are private or plain http.',
    expected: 'a list of addresses such as http://10.0.0.5:9000, without a path',
    defaultText: 'none',
  }),
  websub_hub: setting(page, {
    description: 'The WebSub hub that is told when a feed changed.',
    expected: expectedPage,
    defaultText: 'none',
  }),
  mail_url: setting(z.url({ protocol: /^smtps?$/ }).optional(), {
    description: 'The way of mails: `smtps://user:password@host` or `smtp://…`.',
    expected: 'smtps://user:password@host or smtp://host:port',
    defaultText: 'none: mails become files in the folder of all data',
    secret: true,
  }),
  mail_from: setting(
    z
      .string()
      .regex(/^[^<>@\s]+@[^<>@\s]+$|^[^<>]*<[^<>@\s]+@[^<>@\s]+>$/)
      .optional(),
    {
      description: 'Sender of mails: `Name <address>`.',
      expected: 'Name <address>, or an address',
      defaultText: 'no-reply at the host of `public_url`',
    },
  ),
  policy_url: setting(page, {
    description: 'Page about how programs may use the data.',
    expected: expectedPage,
    defaultText: 'none',
  }),
  terms_url: setting(page, {
    description: 'Page with the terms of service.',
    expected: expectedPage,
    defaultText: 'none',
  }),
  log_level: setting(commonConfig.LOG_LEVEL, {
    description: 'The least level of log lines.',
    expected: '“debug”, “info”, “warn”, “error” or “silent”',
  }),
} as const satisfies z.ZodRawShape;

export type SettingName = keyof typeof settings;
export type Settings = Readonly<z.output<z.ZodObject<typeof settings>>>;

export const settingNames = Object.keys(settings) as readonly SettingName[];

/** What people read about a setting. */
export const textOf = (name: SettingName): SettingText => settingText.parse(settings[name].meta());

export const variableOf = (name: SettingName): string => `LONGWAVE_${name.toUpperCase()}`;

/** Undefined for a secret. */
export const optionOf = (name: SettingName): string | undefined =>
  textOf(name).secret ? undefined : name.replaceAll('_', '-');

/** Settings that are also read from variables without `LONGWAVE_`, as before there were others. */
export const plainVariables: readonly SettingName[] = [
  'trusted_proxies',
  'fetch_allow_origins',
  'plans_file',
  'websub_hub',
  'mail_url',
  'mail_from',
  'policy_url',
  'terms_url',
  'log_level',
];
