import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  canonicalTagKeys,
  meantTag,
  rawKeysMeant,
  type TagNameRow,
  tagIdentity,
} from '../../src/analytics/tag-identity.ts'

const row = (tag_id: string, tag_name: string, last_seen_at: number, container_id = 'A'): TagNameRow => ({
  container_id,
  tag_id,
  tag_name,
  last_seen_at,
})

const TABLE: readonly { name: string; rows: TagNameRow[]; keys: Record<string, string> }[] = [
  { name: 'a tag that gained a name', rows: [row('31', 'GA4', 1)], keys: { tag_31: 'GA4' } },
  {
    name: 'a renamed tag keeps its history',
    rows: [row('31', 'GA4', 1), row('31', 'GA4 new', 2)],
    keys: { tag_31: 'GA4 new', GA4: 'GA4 new' },
  },
  {
    name: 'a name that went and came back',
    rows: [row('31', 'GA4', 3), row('31', 'GA4 new', 2)],
    keys: { tag_31: 'GA4', 'GA4 new': 'GA4' },
  },
  {
    name: 'renamed twice',
    rows: [row('31', 'a', 1), row('31', 'b', 2), row('31', 'c', 3)],
    keys: { tag_31: 'c', a: 'c', b: 'c' },
  },
  {
    name: 'an old name that another tag still has stays its own',
    rows: [row('31', 'GA4', 1), row('31', 'GA4 new', 2), row('32', 'GA4', 2)],
    keys: { tag_31: 'GA4 new', tag_32: 'GA4' },
  },
  {
    name: 'two tags that swap their names',
    rows: [row('1', 'a', 1), row('2', 'b', 1), row('1', 'b', 2), row('2', 'a', 2)],
    keys: { tag_1: 'b', tag_2: 'a' },
  },
  {
    name: 'an old name of two tags goes with the one that had it last',
    rows: [row('1', 'old', 1), row('2', 'old', 2), row('1', 'one', 3), row('2', 'two', 3)],
    keys: { tag_1: 'one', tag_2: 'two', old: 'two' },
  },
  {
    name: 'a tag whose name looks like the key of another',
    rows: [row('7', 'tag_31', 1), row('31', 'GA4', 1)],
    keys: { tag_7: 'tag_31' },
  },
  { name: 'the name that stands for everything over the cap', rows: [row('31', '(other)', 1)], keys: {} },
]

for (const { name, rows, keys } of TABLE) {
  test(`tag identity: ${name}`, () => {
    assert.deepEqual(Object.fromEntries(canonicalTagKeys(rows).get('A') ?? []), keys)
  })
}

test('names of one container say nothing of another', () => {
  const identity = tagIdentity([row('31', 'GA4', 1, 'A'), row('31', 'Meta', 2, 'B')])
  assert.equal(identity.keyOf('A', 'tag_31'), 'GA4')
  assert.equal(identity.keyOf('B', 'tag_31'), 'Meta')
  assert.equal(identity.keyOf('C', 'tag_31'), 'tag_31')
})

test('ids and names of a key', () => {
  const identity = tagIdentity([row('31', 'GA4', 1), row('32', 'GA4', 2), row('8', 'tag_9', 1)])
  assert.deepEqual([identity.idOf('GA4'), identity.nameOf('GA4')], ['32', 'GA4'])
  assert.deepEqual([identity.idOf('tag_40'), identity.nameOf('tag_40')], ['40', null])
  assert.deepEqual([identity.idOf('tag_9'), identity.nameOf('tag_9')], ['8', 'tag_9'])
  assert.deepEqual([identity.idOf('Batched'), identity.nameOf('Batched')], [null, 'Batched'])
  assert.deepEqual([identity.idOf('(other)'), identity.nameOf('(other)')], [null, null])
})

test('a caller may ask by id, by old name and by name', () => {
  const identity = tagIdentity([row('31', 'old', 1), row('31', 'new', 2)])
  for (const key of ['tag_31', 'old', 'new']) {
    assert.equal(
      meantTag(identity, key, (known) => known === 'new'),
      'new',
    )
    assert.deepEqual(rawKeysMeant(identity, key).sort(), [...new Set([key, 'new', 'old', 'tag_31'])].sort())
  }
})

test('a key that is reported as it is means itself, even where another container leads it on', () => {
  const identity = tagIdentity([row('31', 'GA4', 1, 'A')])
  assert.equal(
    meantTag(identity, 'tag_31', (key) => key === 'tag_31'),
    'tag_31',
  )
  assert.equal(
    meantTag(identity, 'tag_31', () => false),
    'GA4',
  )
})

const names = fc.array(
  fc.record({
    container_id: fc.constantFrom('A', 'B'),
    tag_id: fc.constantFrom('1', '2', '3'),
    tag_name: fc.constantFrom('a', 'b', 'c', 'tag_1', '(other)'),
    last_seen_at: fc.nat(4),
  }),
)

test('a key never leads on to a third', () => {
  fc.assert(
    fc.property(names, (rows) => {
      for (const keys of canonicalTagKeys(rows).values()) {
        for (const key of keys.values()) assert.equal(keys.get(key), undefined)
      }
    }),
  )
})
