/**
 * Where the tests of a file run: jest's environment of Node, in a context of its own whose global object is an ordinary one. Jest's is a
 * proxy behind an interceptor, which every look at `Math`, `Map` or `process` passes through: programs that compute took twice the time there.
 *
 * Each file loads its modules anew. V8 compiles a module once in a process, though: later files get the code that it made.
 */
import vm from 'node:vm';
import { TestEnvironment } from 'jest-environment-node';

const { SourceTextModule, compileFunction } = vm;

/** What V8 made of sources, by the names of their files. */
class CompiledSources {
  #known = new Map();

  /** What was made of this source; undefined where the file had another one. */
  find(name, source) {
    const known = this.#known.get(name);
    return known?.source === source ? known.compiled : undefined;
  }

  keep(name, source, compiled) {
    this.#known.set(name, { source, compiled });
  }
}

const modules = new CompiledSources();
const functions = new CompiledSources();

/** Jest has no setting for how it compiles; it takes both from `node:vm` at each use. */
vm.SourceTextModule = class extends SourceTextModule {
  constructor(source, options) {
    const cachedData = modules.find(options.identifier, source);
    if (cachedData)
      try {
        super(source, { ...options, cachedData });
        return;
      } catch (error) {
        // V8 has other flags than when it made it: a test set some.
        if (error.code !== 'ERR_VM_MODULE_CACHED_DATA_REJECTED') throw error;
      }
    super(source, options);
    modules.keep(options.identifier, source, this.createCachedData());
  }
};
vm.compileFunction = (source, parameters, options) => {
  const cachedData = functions.find(options.filename, source);
  const made = compileFunction(source, parameters, { ...options, cachedData, produceCachedData: !cachedData });
  if (!cachedData) functions.keep(options.filename, source, made.cachedData);
  return made;
};

export default class OrdinaryGlobals extends TestEnvironment {
  constructor(config, context) {
    // Jest's constructor makes the context itself, and has no setting for how.
    const { createContext } = vm;
    vm.createContext = () => createContext(vm.constants.DONT_CONTEXTIFY);
    try {
      super(config, context);
    } finally {
      vm.createContext = createContext;
    }
  }
}
