import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { nearest } from '@longwave/service-kit/nearest';
import { parseDocument } from 'yaml';
import { z } from 'zod';
import { optionOf, plainVariables, settingNames, settings, variableOf, type SettingName } from './settings.ts';

/** A value before it is checked, and where it stands. */
export interface FoundValue {
  readonly value: unknown;
  /** Names the place to people: `--listen`, `LONGWAVE_LISTEN`, `listen in /etc/longwave.yaml`. */
  readonly place: string;
  /** A relative path of this value is relative to it; undefined where the setting decides. */
  readonly folder?: string;
}

export type FoundSettings = Partial<Record<SettingName, FoundValue>>;

export interface Source {
  readonly found: FoundSettings;
  /** Sentences about what cannot be read. */
  readonly faults: readonly string[];
}

const isName = (text: string): text is SettingName => settingNames.some((name) => name === text);

const didYouMean = (typed: string, names: readonly string[], show: (name: string) => string) => {
  const near = nearest(typed, names);
  return near === undefined ? '' : `. Did you mean ${show(near)}?`;
};

/** The value that a text stands for: lists have commas, numbers are digits. */
function fromText(name: SettingName, text: string): unknown {
  const { type } = z.toJSONSchema(settings[name], { io: 'input', unrepresentable: 'any' });
  if (type === 'array')
    return text
      .split(',')
      .map((part) => part.trim())
      .filter(Boolean);
  return type === 'integer' && /^\d+$/.test(text) ? Number(text) : text;
}

/** What is typed behind `npm start --`. */
export function readOptions(args: readonly string[]): Source & {
  readonly config: string | undefined;
  readonly adopt: boolean;
} {
  const options = new Map(settingNames.flatMap((name) => [[optionOf(name), name] as const]));
  const known = [...options.keys(), 'config'].filter((option) => option !== undefined);
  const { tokens } = parseArgs({
    args: [...args],
    strict: false,
    tokens: true,
    options: {
      ...Object.fromEntries(known.map((option) => [option, { type: 'string' as const }])),
      adopt: { type: 'boolean' },
    },
  });
  const found: FoundSettings = {};
  const faults: string[] = [];
  let config: string | undefined;
  let adopt = false;
  for (const token of tokens) {
    if (token.kind === 'positional') faults.push(`“${token.value}” is no option`);
    if (token.kind !== 'option') continue;
    const name = options.get(token.name);
    if (token.name === 'adopt') adopt = true;
    else if (name === undefined && token.name !== 'config')
      faults.push(
        `there is no option '${token.rawName}'${didYouMean(token.name, [...known, 'adopt'], (near) => `--${near}`)}`,
      );
    else if (!token.value) faults.push(`${token.rawName} needs a value`);
    else if (name === undefined) config = token.value;
    else found[name] = { value: fromText(name, token.value), place: token.rawName };
  }
  return { found, faults, config, adopt };
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Variables; an empty one counts as absent. */
export function readVariables(environment: Environment): Source {
  const found: FoundSettings = {};
  for (const name of settingNames) {
    const plain = plainVariables.includes(name) ? [name.toUpperCase()] : [];
    const variable = [variableOf(name), ...plain].find((each) => environment[each]);
    if (variable) found[name] = { value: fromText(name, environment[variable]!), place: variable };
  }
  // Other programs of Longwave have variables of their own, so only what is spelt almost like a setting is refused.
  const variables = [...settingNames.map(variableOf), 'LONGWAVE_CONFIG'];
  const faults = Object.keys(environment)
    .filter((variable) => variable.startsWith('LONGWAVE_') && !variables.includes(variable))
    .flatMap((variable) => {
      const short = (text: string) => text.slice('LONGWAVE_'.length);
      const near = nearest(short(variable), variables.map(short));
      return near === undefined ? [] : [`there is no variable ${variable}. Did you mean LONGWAVE_${near}?`];
    });
  return { found, faults };
}

/** What is wrong at which line and column, without the lines themselves. */
const sentenceOf = ({ message }: Error) => message.split('\n')[0]!.replace(/:$/, '');

/** A configuration file in YAML, of which JSON is a part. */
export function readFile(file: string): Source {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    return { found: {}, faults: [`${file} cannot be read: ${(error as Error).message}`] };
  }
  const document = parseDocument(text, { prettyErrors: true });
  if (document.errors.length > 0)
    return {
      found: {},
      faults: document.errors.map((error) => `${file} is neither YAML nor JSON: ${sentenceOf(error)}`),
    };
  const content = (document.toJS() ?? {}) as unknown;
  if (typeof content !== 'object' || content === null || Array.isArray(content))
    return { found: {}, faults: [`${file}: expected settings, as in “listen: 127.0.0.1”`] };
  const found: FoundSettings = {};
  const faults: string[] = [];
  for (const [name, value] of Object.entries(content)) {
    // It names the schema to an editor.
    if (name === '$schema') continue;
    if (!isName(name))
      faults.push(`${file}: there is no setting “${name}”${didYouMean(name, settingNames, (near) => `“${near}”`)}`);
    else if (value !== null)
      found[name] = { value: value as unknown, place: `${name} in ${file}`, folder: path.dirname(file) };
  }
  return { found, faults };
}
