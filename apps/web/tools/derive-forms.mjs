// Makes src/generated/forms of contracts/commands.json: for each resource type that people work with by commands its states, links and commands, with
// the fields of each. Pages load the module of one type; the catalog itself is not sent to browsers.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Types with pages made of their commands. Podcasts, episodes and their recordings have pages of their own, by REST v1. */
export const formTypes = [
  ...['advertisers', 'campaigns', 'line_items', 'creatives', 'creative_assignments', 'demand_sources'],
  ...['tracking_endpoints', 'inventory_units', 'break_plans', 'serving_plans', 'serving_halts', 'products'],
  // What the workspace is, and who may what in it.
  ...['workspaces', 'policies', 'authority_grants', 'machine_keys'],
  ...['rate_cards', 'forecasts', 'traffic_modifiers', 'makegoods', 'review_tasks'],
  ...['reconciliations', 'billing_statements', 'report_definitions', 'report_runs'],
];

/** What a session may not send: it gives others access, or ends the workspace. Commands that disclose a secret are left out too. */
const notBySessions = ['authority_grant.propose', 'machine_key.register', 'workspace.close'];

/** Whether people send a command in a browser. */
export const isForSessions = ({ type, roles = [], disclosed_schema: secret }) =>
  roles.length > 0 && secret === undefined && !notBySessions.includes(type);

/** Forms of a value, one for each kind: a form that stands for several kinds is written once for each of them. */
const byKind = (forms) =>
  forms.flatMap((form) => {
    const kinds = form.properties?.kind?.enum;
    if (!kinds) return [form];
    return kinds.map((kind) => ({
      ...form,
      properties: { ...form.properties, kind: { type: 'string', const: kind } },
    }));
  });

/** A value that may stand there or not is a choice of one. */
const choosable = (schema, isNeeded) =>
  !isNeeded && typeof schema.const === 'string' ? { type: 'string', enum: [schema.const] } : schema;

/** One of several forms of a value says by its title with which kind it is meant, as the rules of a policy. */
const slimForm = (schema) => ({ ...slim(schema), ...(schema.title !== undefined && { ofKind: schema.title }) });

/** A schema without what the form does not need; times are checked by `format`, and which of a group's fields exclude others by the server. */
function slim(schema) {
  if (typeof schema !== 'object' || schema === null) return schema;
  const rest = { ...schema };
  for (const key of ['$schema', 'description', 'title', 'examples']) delete rest[key];
  if (rest.format === 'date-time') {
    if (rest.pattern?.includes('[+-]')) rest.anyOffset = true;
    delete rest.pattern;
  }
  if (rest.properties) delete rest.oneOf;
  if (rest.oneOf) rest.oneOf = byKind(rest.oneOf);
  if (rest.properties)
    rest.properties = Object.fromEntries(
      Object.entries(rest.properties).map(([name, of]) => [name, choosable(slim(of), rest.required?.includes(name))]),
    );
  if (rest.items) rest.items = slim(rest.items);
  for (const key of ['anyOf', 'oneOf']) if (rest[key]) rest[key] = rest[key].map(slimForm);
  return rest;
}

/** A command as its form needs it. */
const formOf = ({ type, from, to, roles, review, versionGuard, summary, externalEffect, changes_schema }) => ({
  ...{ type, from: from ?? null, roles, review, guard: versionGuard, summary, schema: slim(changes_schema) },
  ...(typeof to === 'string' && { to }),
  ...(externalEffect && { effect: externalEffect }),
});

/** The forms of one type. */
export function formsOf({ resources, commands }, type) {
  const { noun, states, terminalStates, links } = resources[type];
  const targets = Object.fromEntries(Object.values(links).map((link) => [link.attribute, link.type]));
  const own = Object.values(commands).filter((command) => command.subject === type && isForSessions(command));
  return { type, noun, states, terminalStates, links: targets, commands: own.map(formOf) };
}

/** Writes the modules into `folder`, and removes those of former types. */
export function deriveForms(folder, root) {
  const catalog = JSON.parse(readFileSync(path.join(root, 'contracts/commands.json'), 'utf8'));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const type of formTypes) {
    const forms = JSON.stringify(formsOf(catalog, type), undefined, 2);
    const head = "import type { TypeForms } from '../../commands/type-forms.ts';\n\n";
    writeFileSync(path.join(folder, `${type}.ts`), `${head}export const forms: TypeForms = ${forms};\n`);
  }
  const loaders = formTypes.map((type) => `  ${type}: () => import('./${type}.ts'),\n`).join('');
  const prefixes = Object.values(catalog.resources).map(({ prefix, type }) => [prefix, type]);
  const known = JSON.stringify(Object.fromEntries(prefixes), undefined, 2);
  writeFileSync(
    path.join(folder, 'index.ts'),
    `/** The modules of each type, loaded with its pages. */\nexport const loaders = {\n${loaders}};\n\n/** The type of a resource by the prefix of its id. */\nexport const typesByPrefix: Readonly<Record<string, string>> = ${known};\n`,
  );
}
