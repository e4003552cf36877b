#!/usr/bin/env node
// usage (cwd = a library): node ../../tools/package-library.mjs [LIBRARY…] → dist/*.tgz: JavaScript and types for Node, with these libraries inside
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');
const library = path.basename(process.cwd());
const inside = [library, ...process.argv.slice(2)];
const out = path.resolve('dist/package');
const readJson = (file) => JSON.parse(readFileSync(file, 'utf8'));
const writeJson = (file, value) => writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
const sourceOf = (name) => path.join(root, 'libs', name, 'src/index.ts');

/** Compiles the libraries into folders of their names, beside each other. */
function compile() {
  writeJson('dist/tsconfig.json', {
    extends: path.join(root, 'tsconfig.base.json'),
    compilerOptions: {
      ...{ noEmit: false, declaration: true, target: 'es2022', rewriteRelativeImportExtensions: true },
      ...{ rootDir: path.join(root, 'libs'), outDir: out, typeRoots: [path.join(root, 'node_modules/@types')] },
      paths: Object.fromEntries(inside.map((name) => [`@longwave/${name}`, [sourceOf(name)]])),
    },
    files: inside.map(sourceOf),
  });
  const compiler = path.join(root, 'node_modules/typescript7/bin/tsc');
  execFileSync(process.execPath, [compiler, '-p', 'dist/tsconfig.json'], { stdio: 'inherit' });
}

/** Makes every import one of a file inside or of an npm package; answers the names of the packages. */
function rewriteImports() {
  const packages = new Set();
  for (const name of readdirSync(out, { recursive: true }).filter((each) => /\.(js|d\.ts)$/.test(each))) {
    const file = path.join(out, name);
    const text = readFileSync(file, 'utf8').replaceAll(/(from |import\()'([^']+)'/g, (_whole, keyword, specifier) => {
      if (specifier.startsWith('.')) return `${keyword}'${specifier.replace(/\.ts$/, '.js')}'`;
      const own = specifier.replace('@longwave/', '');
      if (!inside.includes(own)) {
        if (!specifier.startsWith('node:'))
          packages.add(specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/'));
        return `${keyword}'${specifier}'`;
      }
      const index = path.relative(path.dirname(file), path.join(out, own, 'src/index.js'));
      return `${keyword}'${index.startsWith('.') ? index : `./${index}`}'`;
    });
    writeFileSync(file, text);
  }
  return [...packages].toSorted();
}

rmSync('dist', { recursive: true, force: true });
mkdirSync(out, { recursive: true });
compile();
const { version, license, engines, dependencies } = readJson(path.join(root, 'package.json'));
const { name, description } = readJson('package.json');
const needed = rewriteImports().map((each) => {
  if (!dependencies[each]) throw new Error(`${name} imports ${each}, which is no dependency of the repository.`);
  return [each, `^${dependencies[each]}`];
});
const entry = `./${library}/src/index`;
writeJson(path.join(out, 'package.json'), {
  ...{ name, version, description, license, type: 'module', engines },
  exports: { '.': { types: `${entry}.d.ts`, default: `${entry}.js` } },
  dependencies: Object.fromEntries(needed),
});
// Links into the repository lead nowhere in a package.
writeFileSync(
  path.join(out, 'README.md'),
  readFileSync('README.md', 'utf8').replaceAll(/\[([^\]]+)\]\(\.\.[^)]*\)/g, '$1'),
);
copyFileSync(path.join(root, 'LICENSE'), path.join(out, 'LICENSE'));
const packed = execFileSync('npm', ['pack', '--json', '--pack-destination', '..'], { cwd: out, encoding: 'utf8' });
console.log(path.relative(root, path.resolve('dist', JSON.parse(packed)[0].filename)));
