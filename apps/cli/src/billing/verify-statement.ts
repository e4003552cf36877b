import { jcsDigest } from '@longwave/idempotency';
import {
  adjustmentsOf,
  computeStatement,
  earlierCharges,
  formatAmount,
  inputsOf,
  renderStatement,
  statementFormats,
  statementOf,
  type EarlierCharge,
  type Issue,
  type StatementDocument,
  type StatementFormat,
  type StatementLine,
  type StoredStatement,
} from '@longwave/money';
import { daysOf } from '@longwave/podcast-analytics/zoned-days';
import type { ManagementApi } from '../manage/management-api.ts';
import {
  readDocument,
  readLedgerOf,
  readStatement,
  sha256Of,
  type LedgerAnswer,
  type Statement,
} from './read-statement.ts';

/** One thing that was compared. */
interface Check {
  readonly name: string;
  readonly ok: boolean;
  /** What was found. */
  readonly detail: string;
}

export interface Verification {
  readonly statement_id: string;
  readonly number: number;
  readonly total: string;
  readonly known_at: string;
  readonly verified: boolean;
  readonly checks: readonly Check[];
}

/** A document that somebody got. */
export interface Copy {
  readonly name: string;
  readonly format: StatementFormat;
  readonly bytes: Buffer;
}

/** A statement that is issued and has its documents. Throws for any other, and says what to do. */
function issuedOf({ id, lifecycle_state: state, attributes }: Statement): StoredStatement & Issue {
  const { evidence, lines, total_micros: total, number, issued_at: issuedAt, parties } = attributes;
  if (evidence && lines && total !== undefined && number !== undefined && issuedAt !== undefined && parties)
    return { ...attributes, evidence, lines, total_micros: total, number, issued_at: issuedAt, parties };
  throw new Error(
    state === 'draft'
      ? `${id} is a draft: it has no number and no documents yet. Issue it first: manage run billing_statement.issue ${id}`
      : `${id} was never issued: ${attributes.problem?.detail ?? state}. Make a new statement.`,
  );
}

const described = ({ line_item_id: id, kind, units, days, amount_micros }: StatementLine, currency: string) =>
  `${kind} of ${id}: ${units} units, ${days} days, ${formatAmount(BigInt(amount_micros), currency)} ${currency}`;

/** The first line that differs, in words; undefined when none does. */
function lineDifference(
  issued: readonly StatementLine[],
  recomputed: readonly StatementLine[],
  currency: string,
): string | undefined {
  const place = Array.from({ length: Math.max(issued.length, recomputed.length) }, (_, index) => index).find(
    (index) => jcsDigest(issued[index] ?? null) !== jcsDigest(recomputed[index] ?? null),
  );
  if (place === undefined) return undefined;
  const [says, is] = [issued, recomputed].map((lines) => lines[place] && described(lines[place], currency));
  return `Line ${place + 1}: the statement says ${says ?? 'nothing'}; the ledger says ${is ?? 'nothing'}.`;
}

/** Whether the inputs are those whose digest the statement names. */
function checkInputs(stored: StoredStatement): Check {
  const digest = jcsDigest(inputsOf(stored));
  const ok = digest === stored.evidence.inputs_digest;
  const detail = ok
    ? `SHA-256 ${digest}`
    : `Their SHA-256 is ${digest}, and the statement names ${stored.evidence.inputs_digest}.`;
  return { name: 'inputs', ok, detail };
}

const byRate = (charges: readonly EarlierCharge[]) =>
  charges.toSorted((a, b) => Date.parse(a.rate_from) - Date.parse(b.rate_from));

/** Whether what is taken off is what the earlier statements have charged. */
async function checkEarlier(
  api: ManagementApi,
  { workspace_id: workspaceId }: Statement,
  stored: StoredStatement,
): Promise<Check> {
  const { earlier_statement_ids: ids, line_items: lineItems } = stored.inputs as Statement['attributes']['inputs'];
  const lines: StatementLine[] = [];
  for (const id of ids) lines.push(...((await readStatement(api, workspaceId, id)).attributes.lines ?? []));
  const charged = earlierCharges(lines);
  const wrong = lineItems.find(
    ({ line_item_id: id, earlier }) => jcsDigest(byRate(earlier)) !== jcsDigest(byRate(charged.get(id) ?? [])),
  );
  return {
    name: 'earlier statements',
    ok: wrong === undefined,
    detail: wrong
      ? `What is taken off for ${wrong.line_item_id} is not what the ${ids.length} earlier statements have charged.`
      : `${ids.length} taken off`,
  };
}

/** Whether the lines are what the ledger gives. */
function checkLines(
  stored: StoredStatement,
  ledger: LedgerAnswer,
  recomputed: Pick<StoredStatement, 'lines' | 'total_micros'>,
): Check {
  const { currency } = stored.inputs;
  const named = stored.evidence.adjustments;
  const found = adjustmentsOf(ledger.readings);
  const known = found.length === named.count && jcsDigest(found) === named.sha256;
  const problem = !known
    ? `The ledger has ${found.length} adjustments as known then, and the statement was made of ${named.count}, or of others.`
    : (lineDifference(stored.lines, recomputed.lines, currency) ??
      (stored.total_micros === recomputed.total_micros ? undefined : 'The lines do not sum to the total.'));
  return {
    name: 'ledger',
    ok: problem === undefined,
    detail: problem ?? `${stored.lines.length} lines, as known at ${stored.inputs.known_at}`,
  };
}

/** Whether bytes are exactly those that the recomputed statement has. */
function compareBytes(name: string, bytes: Buffer, document: StatementDocument, format: StatementFormat): Check {
  const expected = renderStatement(document, format);
  if (bytes.equals(expected)) return { name, ok: true, detail: `${bytes.length} bytes, SHA-256 ${sha256Of(bytes)}` };
  const at = expected.findIndex((byte, index) => bytes[index] !== byte);
  const place = at < 0 ? expected.length : at;
  return {
    name,
    ok: false,
    detail: `It differs from byte ${place + 1} on: “${bytes.subarray(place, place + 40).toString()}” in place of “${expected.subarray(place, place + 40).toString()}”.`,
  };
}

/**
 * Computes a statement again from the ledger as it was known at its time, and compares everything that was issued with it, byte for byte.
 * @param copy a document that somebody got, which is compared too
 */
export async function verifyStatement(
  api: ManagementApi,
  { workspaceId, id, copy }: { readonly workspaceId: string; readonly id: string; readonly copy?: Copy | undefined },
): Promise<Verification> {
  const statement = await readStatement(api, workspaceId, id);
  const issued = issuedOf(statement);
  const { inputs } = issued;
  const ledger = await readLedgerOf(api, statement);
  const recomputed = computeStatement(inputs, ledger.readings, daysOf(inputs.time_zone));
  const document = statementOf(statement, { ...issued, ...recomputed }, issued);
  const checks = [
    checkInputs(issued),
    await checkEarlier(api, statement, issued),
    checkLines(issued, ledger, recomputed),
  ];
  for (const format of statementFormats) {
    const bytes = await readDocument(api, statement, format);
    const named = statement.attributes.documents?.find((each) => each.format === format)?.sha256;
    const check = compareBytes(`${format} document`, bytes, document, format);
    checks.push(
      check.ok && named !== sha256Of(bytes)
        ? { ...check, ok: false, detail: `The statement names a document with the SHA-256 ${named}.` }
        : check,
    );
  }
  if (copy) checks.push(compareBytes(copy.name, copy.bytes, document, copy.format));
  return {
    statement_id: id,
    number: issued.number,
    total: `${formatAmount(BigInt(issued.total_micros), inputs.currency)} ${inputs.currency}`,
    known_at: inputs.known_at,
    verified: checks.every(({ ok }) => ok),
    checks,
  };
}
