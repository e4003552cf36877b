import type { Step } from '../../api/management.ts';
import { fieldName, stateName } from '../../commands/words.ts';
import { t } from '../../messages/messages.ts';
import { AttributeValue } from './attribute-value.tsx';
import styles from './ads.module.css';

const nameOfPath = (path: string) => {
  const parts = path.split('/').filter((part) => part !== '' && part !== 'attributes' && !/^\d+$/.test(part));
  return parts.map((part) => (part === 'lifecycle_state' ? t('ads.states') : fieldName(part))).join(', ');
};

const at = (from: unknown, path: string): unknown =>
  path
    .split('/')
    .slice(1)
    .reduce<unknown>((value, part) => (value as Readonly<Record<string, unknown>> | undefined)?.[part], from);

function Side({
  workspace,
  path,
  value,
}: {
  readonly workspace: string;
  readonly path: string;
  readonly value: unknown;
}) {
  if (value === undefined) return <>–</>;
  if (path === '/lifecycle_state' && typeof value === 'string') return <>{stateName(value)}</>;
  return <AttributeValue workspace={workspace} value={value} />;
}

/**
 * What changed, or would change: each field before and after.
 * @param before what the steps apply to; without it, only what comes afterwards is shown
 */
export function Difference({
  workspace,
  steps,
  before,
}: {
  readonly workspace: string;
  readonly steps: readonly Step[];
  readonly before?: unknown;
}) {
  return (
    <dl className={styles.difference}>
      {steps.map(({ path, value }) => (
        <div key={path}>
          <dt>{nameOfPath(path)}</dt>
          {before !== undefined && (
            <dd>
              <span className={styles.side}>{t('ads.before')}</span>
              <Side workspace={workspace} path={path} value={at(before, path)} />
            </dd>
          )}
          <dd>
            {before !== undefined && <span className={styles.side}>{t('ads.after')}</span>}
            <Side workspace={workspace} path={path} value={value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
