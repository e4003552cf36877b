/**
 * Where the tests of a file run: jest's environment of Node, in a context of its own whose global object is an ordinary one. Jest's is a
 * proxy behind an interceptor, which every look at `Math`, `Map` or `process` passes through: programs that compute took twice the time there.
 */
import vm from 'node:vm';
import { TestEnvironment } from 'jest-environment-node';

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
