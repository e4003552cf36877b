export { problems, type ProblemCode, type ProblemOwner, type RetryClass } from './problems.ts';
export {
  Problem,
  problemFromView,
  problemView,
  type FieldError,
  type ProblemContext,
  type ProblemView,
} from './problem.ts';
export { fieldErrors, parseOrProblem, pointerSegment } from './parse.ts';
