import { execFile } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

const root = path.resolve(import.meta.dirname, '../..');
const textOf = (file: string) => readFileSync(path.join(root, file), 'utf8');
const run = promisify(execFile);

/** Documents that describe the present state; the changelog and the decisions tell of earlier ones, too. */
const present = [
  ...['README.md', 'CONTRIBUTING.md', 'SECURITY.md'],
  ...globSync('docs/{*,services/*,runbooks/*}.md', { cwd: root }),
];
const documents = [...present, 'CHANGELOG.md', ...globSync('docs/adr/*.md', { cwd: root })];

/** The matches of a pattern in some documents, each with the document. */
const findAll = (pattern: RegExp, among: readonly string[]) =>
  among.flatMap((document) =>
    [...textOf(document).matchAll(pattern)].map((match) => [document, ...match.slice(1)] as const),
  );

const exists = (...parts: readonly string[]) => existsSync(path.join(root, ...parts));

test('every npm command that the documents show exists and explains itself with --help', async () => {
  const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> };
  const shown = findAll(/\bnpm (?:run )?(start|test|(?<=run )[a-z-]+)\b/g, documents).map(([, script]) => script!);
  const ownScripts = [...new Set(shown)].filter((script) => !['install', 'ci'].includes(script));
  expect(ownScripts.filter((script) => !(script in scripts))).toEqual([]);
  for (const script of ownScripts) {
    const { stdout } = await run(process.execPath, ['deploy/local/launch.mjs', script, '--help'], { cwd: root });
    expect(stdout).toMatch(/\S/);
  }
});

test('every nx command that the documents show names a project and a target that exist', () => {
  const { nx } = JSON.parse(textOf('package.json')) as { nx: { targets: Record<string, unknown> } };
  const targets = findAll(/\broot:([a-z]+)/g, present).map(([, target]) => target!);
  expect(targets.length).toBeGreaterThan(0);
  expect(targets.filter((target) => !(target in nx.targets))).toEqual([]);
  const projects = findAll(/\bnpx nx test ([a-z-]+)/g, present).map(([, project]) => project!);
  expect(projects.length).toBeGreaterThan(0);
  expect(projects.filter((project) => !exists('apps', project) && !exists('libs', project))).toEqual([]);
});

test('every file that a document links to is there', () => {
  const broken = findAll(/\]\((?!https?:|#)([^)#\s]+)/g, documents).filter(
    ([document, target]) => !exists(path.dirname(document), target!),
  );
  expect(broken).toEqual([]);
});

/** The names by which the sections of a document are linked to: of its headings, as GitHub makes them, and of anchors in the text. */
function readSections(document: string): ReadonlySet<string> {
  const headings = findAll(/^#+ (.*)$/gm, [document]).map(([, heading]) => heading!);
  const slugs = headings.map((heading) =>
    heading
      .toLowerCase()
      .replace(/[^\p{Letter}\p{Number}_\- ]/gu, '')
      .replaceAll(' ', '-'),
  );
  return new Set([...slugs, ...findAll(/<a id="([^"]+)">/g, [document]).map(([, id]) => id!)]);
}

/** What a document links to in this repository, as paths from its root. */
const linksOf = (document: string) =>
  findAll(/\]\((?!https?:|#)([^)#\s]+)/g, [document]).map(([, target]) => path.join(path.dirname(document), target!));

test('every section of a document that a document links to is there', () => {
  const linked = findAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g, documents);
  expect(linked.length).toBeGreaterThan(0);
  const broken = linked.filter(([document, target, section]) => {
    const page = target === '' ? document : path.join(path.dirname(document), target!);
    return page.endsWith('.md') && !readSections(page).has(section!);
  });
  expect(broken).toEqual([]);
});

test('README links to the index of the documents, the index to each of them, and somebody to every page', () => {
  expect(linksOf('README.md')).toContain('docs/README.md');
  const index = new Set(linksOf('docs/README.md'));
  const unlisted = globSync('docs/{*,services/*}.md', { cwd: root }).filter((page) => !index.has(page));
  expect(unlisted).toEqual(['docs/README.md']);
  const reached = new Set(index);
  // A set is read in the order in which it grows, so pages that are reached are looked through as well.
  for (const page of reached)
    for (const linked of page.endsWith('.md') ? linksOf(page) : []) if (linked.startsWith('docs/')) reached.add(linked);
  expect(globSync('docs/**/*.md', { cwd: root }).filter((page) => !reached.has(page))).toEqual([]);
});

test('every section of a document that code cites is there', () => {
  const code = globSync('{apps,libs,deploy,tests}/**/*.{ts,mjs,prisma}', {
    cwd: root,
    exclude: (name) => /(^|\/)(node_modules|dist|generated)$/.test(name),
  });
  const cited = findAll(/\b(docs\/[\w./-]+\.md)#([\w-]+)/g, code);
  expect(cited.length).toBeGreaterThan(0);
  const sections = new Map(
    [...new Set(cited.map(([, document]) => document!))].map((document) => [document, readSections(document)]),
  );
  expect(cited.filter(([, document, section]) => !sections.get(document!)!.has(section!))).toEqual([]);
});

test('every file of the repository that a document names is there', () => {
  const named = findAll(/`((?:apps|libs|deploy|tests|tools|proto|contracts|docs|src|cases)\/[^`\s]*)`/g, present);
  const absent = named.filter(([document, file]) => {
    // The page of a service may name the files of its app from there.
    const folders = document.startsWith('docs/services/') ? ['', `apps/${path.basename(document, '.md')}`] : [''];
    return folders.every(
      (folder) => globSync(file!.replaceAll('NAME', '*'), { cwd: path.join(root, folder) }).length === 0,
    );
  });
  expect(absent).toEqual([]);
});

/** Excerpts of code, each under a comment with the path of its file. */
const excerpts = findAll(/^ *```(?:ts|proto|prisma|sql)\n *(?:\/\/|--) (\S+)\n([\s\S]*?)^ *```/gm, ['CONTRIBUTING.md']);

/** Code without what a formatter decides: white space, and commas before the end of a list. */
const bare = (code: string) => code.replace(/\s+/g, '').replace(/,(?=[}\])]|$)/g, '');

test.each(excerpts.map(([, file, excerpt]) => [file!, excerpt!] as const))(
  'the excerpt of %s stands there as CONTRIBUTING.md shows it',
  (file, excerpt) => {
    expect(bare(textOf(file))).toContain(bare(excerpt));
  },
);
