export { listenHttp, type HttpListener } from './listen-http.ts';
export { renderProblem } from './render-problem.ts';
