/** The generated part of docs/configuration.md, and the JSON Schema of the file of settings. */
import path from 'node:path';
import { workspaceRoot } from '@longwave/fleet/running';
import { namesOf, services } from '@longwave/services';
import { z } from 'zod';
import { code, table } from './generated-part.ts';
import { optionOf, settings, textOf, variableOf, type SettingName } from './settings.ts';

/** What a JSON Schema says of a variable or setting; the last four are ours. */
const described = z.object({
  type: z.string().optional(),
  format: z.string().optional(),
  enum: z.array(z.string()).optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  default: z.union([z.string(), z.number()]).optional(),
  description: z.string(),
  kind: z.string().optional(),
  secret: z.boolean().optional(),
  defaultText: z.string().optional(),
});
type Described = z.output<typeof described>;

const objectSchema = z.object({
  properties: z.record(z.string(), described),
  required: z.array(z.string()).default([]),
});

/** Throws when a member has no description. */
const describe = (schema: z.ZodType) =>
  objectSchema.parse(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }));

const isBound = (bound: number | undefined): bound is number =>
  bound !== undefined && Number.isSafeInteger(bound + 1) && Number.isSafeInteger(bound - 1);

function rangeOf({ minimum, maximum }: Described): string {
  if (isBound(minimum) && isBound(maximum)) return `, ${minimum} to ${maximum}`;
  if (isBound(minimum)) return `, at least ${minimum}`;
  return isBound(maximum) ? `, at most ${maximum}` : '';
}

function typeOf(member: Described): string {
  if (member.kind) return member.kind;
  if (member.enum) return member.enum.map(code).join(', ');
  if (member.type === 'integer') return `whole number${rangeOf(member)}`;
  if (member.type === 'array') return 'list';
  return member.format === 'uri' ? 'URL' : 'text';
}

const typeCell = (member: Described) => `${typeOf(member)}${member.secret ? ', secret' : ''}`;

function defaultCell({ defaultText, default: value }: Described, isRequired: boolean): string {
  if (defaultText !== undefined) return defaultText;
  if (isRequired) return '**required**';
  return value === undefined || value === '' ? 'none' : code(String(value));
}

function settingsTable(): string {
  const { properties, required } = describe(z.strictObject(settings));
  const rows = Object.entries(properties).map(([name, member]) => {
    const option = optionOf(name as SettingName);
    const others = [...(option === undefined ? [] : [`--${option}`]), variableOf(name as SettingName)]
      .map(code)
      .join(' ');
    return [code(name), others, typeCell(member), defaultCell(member, required.includes(name)), member.description];
  });
  return table(['in the file', 'option, variable', 'type', 'default', 'what'], rows);
}

async function serviceTable(service: string): Promise<string> {
  const file = path.join(workspaceRoot, 'apps', service, 'src/config.ts');
  const { configuration } = (await import(file)) as { readonly configuration: z.ZodType };
  const { properties, required } = describe(configuration);
  const rows = Object.entries(properties)
    .toSorted(([a], [b]) => Number(required.includes(b)) - Number(required.includes(a)) || (a < b ? -1 : 1))
    .map(([name, member]) => [
      code(name),
      typeCell(member),
      defaultCell(member, required.includes(name)),
      member.description,
    ]);
  return table(['variable', 'type', 'default', 'what'], rows);
}

/** The tables of settings and of every service's variables, as Markdown that is not laid out yet. */
export async function configurationTables(): Promise<string> {
  const sections = await Promise.all(
    namesOf(services).map(async (service) => `### ${service}\n\n${await serviceTable(service)}`),
  );
  return [
    '## Settings of `npm start`',
    settingsTable(),
    '## Variables of the services',
    'Required variables come first. `npm start` gives each service all of its variables; whoever starts services in another way sets them.',
    ...sections,
  ].join('\n\n');
}

/** The JSON Schema (2020-12) of the file of settings. */
export function settingsSchema(): object {
  const { properties, ...schema } = z.toJSONSchema(z.strictObject(settings), { io: 'input', unrepresentable: 'any' });
  const members = Object.entries(properties ?? {}).map(([name, member]) => {
    const {
      expected: _expected,
      defaultText: _defaultText,
      secret: _secret,
      ...rest
    } = member as Record<string, unknown>;
    const { defaultText } = textOf(name as SettingName);
    const description = defaultText ? `${rest['description'] as string} Default: ${defaultText}.` : rest['description'];
    return [name, { ...rest, description }] as const;
  });
  return {
    ...schema,
    title: 'Settings of Longwave',
    properties: { $schema: { type: 'string' }, ...Object.fromEntries(members) },
  };
}
