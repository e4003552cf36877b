import { expect, test } from '@jest/globals';
import { startTestDatabase } from '@longwave/fleet';
import { copyRows, createPool, transaction } from '../src/index.ts';

test('copied rows have every value as it was, and a row that breaks a constraint leaves nothing and spares the connection', async () => {
  await using database = await startTestDatabase({ schema: 'product' });
  const pool = createPool(database.adminUrl, 'product', { name: 'copy', max: 1, copies: true });
  try {
    await pool.query(
      `create table word (id int primary key, text text, noted bool, added text not null default 'later')`,
    );
    const texts = ['', '\\.', '\\N', 'a\tb\r\nc\\n', 'Füße 🎧', '"a",b', null];
    const rows = texts.map((text, id) => ({ id, text, noted: id % 2 === 0 }));
    await transaction(pool, (tx) => copyRows(tx, 'word', 'id, text, noted', rows));
    const stored = () => pool.query('select * from word order by id');
    expect((await stored()).rows).toEqual(rows.map((row) => ({ ...row, added: 'later' })));

    const again = [100, 3].map((id) => ({ id, text: 'again', noted: null }));
    await expect(transaction(pool, (tx) => copyRows(tx, 'word', 'id, text, noted', again))).rejects.toMatchObject({
      code: '23505',
      constraint: 'word_pkey',
    });
    const illegal = [{ id: 100, text: '\0', noted: null }];
    await expect(transaction(pool, (tx) => copyRows(tx, 'word', 'id, text, noted', illegal))).rejects.toMatchObject({
      code: '22021',
    });
    await transaction(pool, (tx) => copyRows(tx, 'word', 'id, text, noted', []));
    expect((await stored()).rows).toHaveLength(texts.length);
  } finally {
    await pool.end();
  }
});
