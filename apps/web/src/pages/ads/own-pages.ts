import { lazyRouteComponent } from '@tanstack/react-router';
import type { ComponentType } from 'react';
import { withTexts } from '../../messages/load-texts.ts';

/** Types whose resources have a page of their own, loaded with the first of them. */
export const ownPages: Readonly<Record<string, ComponentType>> = {
  reconciliations: lazyRouteComponent(
    withTexts('finance', () => import('../finance/reconciliation-page.tsx')),
    'ReconciliationPage',
  ),
  billing_statements: lazyRouteComponent(
    withTexts('finance', () => import('../finance/statement-page.tsx')),
    'StatementPage',
  ),
  report_runs: lazyRouteComponent(
    withTexts('finance', () => import('../finance/report-run-page.tsx')),
    'ReportRunPage',
  ),
};
