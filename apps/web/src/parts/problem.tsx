import { Link } from '@tanstack/react-router';
import { CircleAlert, RotateCw } from 'lucide-react';
import { useEffect, type ReactNode } from 'react';
import { asProblem, wordsFor, type ApiProblem } from '../api/problems.ts';
import { t } from '../messages/messages.ts';
import { Button, buttonClass } from './button.tsx';
import { CopyButton } from './copy-button.tsx';
import { Icon } from './icon.tsx';
import styles from './problem.module.css';

/** The server's own sentence, which is English, and the id that its people ask for. */
function Details({ problem }: { readonly problem: ApiProblem }) {
  return (
    <>
      {problem.message !== '' && <p lang="en">{problem.message}</p>}
      {problem.requestId !== undefined && problem.status >= 500 && (
        <p className={styles.request}>{t('problem.request', { id: problem.requestId })}</p>
      )}
    </>
  );
}

const CopyRequest = ({ problem: { requestId, status } }: { readonly problem: ApiProblem }) =>
  requestId !== undefined && status >= 500 ? (
    <CopyButton name="problem.copy_request" text={requestId} size="small" />
  ) : null;

/** A part of a page could not be had: what happened, what to do, and once more. */
export function ProblemBanner({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  const problem = asProblem(error);
  const { title, help } = wordsFor(problem);
  return (
    <div className={styles.banner} role="alert">
      <Icon of={CircleAlert} size={18} />
      <div className={styles.words}>
        <b>{t(title)}</b>
        <p>{t(help)}</p>
        <Details problem={problem} />
      </div>
      <CopyRequest problem={problem} />
      {onRetry && (
        <Button size="small" icon={RotateCw} onClick={onRetry}>
          {t('retry')}
        </Button>
      )}
    </div>
  );
}

/** A whole page that says one thing: what happened, what to do, where to go on. */
export function FullPage({
  title,
  help,
  children,
}: {
  readonly title: string;
  readonly help: string;
  readonly children?: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · Longwave`;
  }, [title]);
  return (
    <div className={styles.full}>
      <h1 tabIndex={-1}>{title}</h1>
      <p>{help}</p>
      {children}
    </div>
  );
}

/** The page itself could not be had. */
export function ProblemPage({ error, onRetry }: { readonly error: unknown; readonly onRetry: () => void }) {
  const problem = asProblem(error);
  const { title, help } = wordsFor(problem);
  return (
    <FullPage title={t(title)} help={t(help)}>
      <Details problem={problem} />
      <div className={styles.buttons}>
        {problem.status === 404 || problem.status === 403 ? (
          <Link className={buttonClass({ kind: 'primary' })} to="/">
            {t('not_found.home')}
          </Link>
        ) : (
          <Button kind="primary" icon={RotateCw} onClick={onRetry}>
            {t('retry')}
          </Button>
        )}
        <CopyRequest problem={problem} />
      </div>
    </FullPage>
  );
}
