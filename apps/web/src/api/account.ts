import { get } from './queries.ts';

/** The account that this session works in: its name, plan and limits. */
export const accountQuery = get('/account', {});

/** What is left of its plan in this month. */
export const usageQuery = get('/account/usage', {});
