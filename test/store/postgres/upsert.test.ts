import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { numbersLiteral, storableValue, upsertColumns, upsertSql } from '../../../src/store/postgres/values.ts'
import { columnsOf, type SqlValue, type UpsertSpec } from '../../../src/store/store.ts'

/** Two keys of a name and a number, and one column of each kind. */
const SPEC: UpsertSpec = { table: 'journal', keys: ['name', 'no'], sums: ['sum'], maxima: ['max'], fixed: ['fixed'] }

const rowsOf = (columns: SqlValue[][]): SqlValue[][] =>
  (columns[0] ?? []).map((_, row) => columns.map((column) => column[row] ?? null))

test('rows come in the order of their keys', () => {
  const values = ['b', 1, 1, 1, 'x', 'a', 10, 2, 2, 'y', 'a', 9, 3, 3, 'z']
  assert.deepEqual(upsertColumns(SPEC, values), [
    ['a', 'a', 'b'],
    [9, 10, 1],
    [3, 2, 1],
    [3, 2, 1],
    ['z', 'y', 'x'],
  ])
})

test('rows with one key become one: sums add up, the larger maximum stays, and what the first said', () => {
  const values = ['a', 1, 5, 7, 'first', 'b', 1, 1, 1, 'other', 'a', 1, 10, 3, 'second']
  assert.deepEqual(rowsOf(upsertColumns(SPEC, values)), [
    ['a', 1, 15, 7, 'first'],
    ['b', 1, 1, 1, 'other'],
  ])
})

test('no rows are no rows in every column', () => {
  assert.deepEqual(upsertColumns(SPEC, []), [[], [], [], [], []])
})

test('a value that is missing stays missing, for the database to refuse', () => {
  assert.deepEqual(rowsOf(upsertColumns(SPEC, ['a', 1, null, 1, 'x'])), [['a', 1, null, 1, 'x']])
})

test('whatever comes in, each key goes out once, in order, with what a plain map says', () => {
  const name = fc.constantFrom('', 'a', 'B', 'ä', 'a\u{1F600}', '\uFFFD')
  const row = fc.tuple(name, fc.nat(3), fc.nat(100), fc.nat(100), fc.string({ maxLength: 2 }))
  fc.assert(
    fc.property(fc.array(row, { maxLength: 40 }), (rows) => {
      const expected = new Map<string, SqlValue[]>()
      for (const [key, no, sum, max, fixed] of rows) {
        const before = expected.get(`${no}${key}`)
        const merged =
          before === undefined
            ? [key, no, sum, max, fixed]
            : [key, no, Number(before[2]) + sum, Math.max(Number(before[3]), max), before[4] ?? null]
        expected.set(`${no}${key}`, merged)
      }
      const found = rowsOf(upsertColumns(SPEC, rows.flat()))
      assert.deepEqual(new Map(found.map((values) => [`${values[1]}${values[0]}`, values])), expected)
      assert.equal(found.length, expected.size)
      const keys = found.map(([key, no]) => [String(key), Number(no)] as const)
      for (const [index, [key, no]] of keys.entries()) {
        const [nextKey, nextNo] = keys[index + 1] ?? [`${key}~`, no]
        assert.ok(key < nextKey || (key === nextKey && no < nextNo))
      }
    }),
  )
})

const sqlOf = (spec: Partial<UpsertSpec>) => {
  const whole: UpsertSpec = { table: 'journal', keys: ['a', 'b'], sums: [], maxima: [], fixed: [], ...spec }
  return upsertSql(
    whole,
    columnsOf(whole).map((column) => (column === 'a' ? 'text' : 'bigint')),
  )
}
const updateOf = (spec: Partial<UpsertSpec>) => sqlOf(spec).split(' on conflict ')[1]

test('an upsert is one statement with an array for each column', () => {
  assert.equal(
    sqlOf({ sums: ['s'], fixed: ['f'] }),
    'insert into journal (a, b, s, f) select * from unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[]) ' +
      'on conflict (a, b) do update set s = journal.s + excluded.s',
  )
})

test('sums and maxima are updated, keys and what is fixed are not', () => {
  assert.equal(
    updateOf({ sums: ['s', 't'], maxima: ['m'], fixed: ['f'] }),
    '(a, b) do update set s = journal.s + excluded.s, t = journal.t + excluded.t, m = greatest(journal.m, excluded.m)',
  )
})

test('where nothing changes the row is locked all the same, by its last key', () => {
  assert.equal(updateOf({}), '(a, b) do update set b = excluded.b')
  assert.equal(updateOf({ fixed: ['f'] }), '(a, b) do update set b = excluded.b')
})

const TEXTS: readonly [given: unknown, stored: unknown][] = [
  ['plain', 'plain'],
  ['', ''],
  ['\u{1F600}', '\u{1F600}'],
  ['a\0b\0', 'a\uFFFDb\uFFFD'],
  ['half \uD83D', 'half \uFFFD'],
  ['\uDE00\0\uD83D\uDE00', '\uFFFD\uFFFD\u{1F600}'],
  [7, 7],
  [null, null],
]
test('text that PostgreSQL cannot hold is replaced, everything else stays', () => {
  for (const [given, stored] of TEXTS) assert.equal(storableValue(given), stored)
})

test('numbers go as an array literal', () => {
  assert.equal(numbersLiteral([]), '{}')
  assert.equal(numbersLiteral([1, -2, null, 2 ** 53, 1.5, 1e300]), '{1,-2,null,9007199254740992,1.5,1e+300}')
})
