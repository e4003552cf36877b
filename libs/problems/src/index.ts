export { problems, type ProblemCode, type ProblemOwner, type RetryClass } from './problems.ts';
export {
  Problem,
  problemFromView,
  problemView,
  type FieldError,
  type ProblemContext,
  type ProblemView,
} from './problem.ts';
export { fieldSentence } from './field-sentence.ts';
export { fieldErrors, namedDetail, parseOrProblem, pointerSegment } from './parse.ts';
