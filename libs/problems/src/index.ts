export { problems, type ProblemCode } from './problems.ts';
export { isProblem, Problem, problemFromView, problemView, type FieldError, type ProblemView } from './problem.ts';
export { fieldSentence } from './field-sentence.ts';
export { fieldErrors, namedDetail, parseOrProblem, maxFieldErrors, pointerSegment, shownSegment } from './parse.ts';
