/** Whether the server ended a statement that took longer than `statement_timeout` (`query_canceled`; PostgreSQL, appendix A). */
export const isStatementTimeout = (error: unknown): boolean =>
  (error as { readonly code?: unknown } | null)?.code === '57014';
