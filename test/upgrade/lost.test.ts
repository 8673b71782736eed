import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lost } from './lost.ts'

const CASES: readonly [before: unknown, after: unknown, differences: string[]][] = [
  [{ a: 1 }, { a: 1, b: 2 }, []],
  [{ a: 1 }, { b: 2 }, ['/a is gone']],
  [{ a: { b: 1 } }, { a: { b: '1' } }, ['/a/b is "1", and was 1']],
  [[1, 2], [1, 2, 3], [' has 3 entries, and had 2']],
  [{ list: [{ a: 1 }] }, { list: [{ a: 1, b: 1 }] }, []],
  [{ a: null }, { a: null }, []],
  [{ a: null }, { a: {} }, ['/a is {}, and was null']],
  [[], {}, [' is {}, and was []']],
  [{ evidence: ['“A” was bad first, 5 of 14'] }, { evidence: ['5 of 14: it began with “A”'] }, []],
  [
    { warnings: [{ message: '5 of 14 events were late' }] },
    { warnings: [{ message: '5 of 15 events came late' }] },
    ['/warnings/0/message is "5 of 15 events came late", and was "5 of 14 events were late"'],
  ],
  [{ title: 'It is down' }, { title: 'It was down' }, ['/title is "It was down", and was "It is down"']],
  ['a,b\n', 'a,b,c\n', [' is "a,b,c\\n", and was "a,b\\n"']],
]

for (const [before, after, differences] of CASES) {
  test(`between ${JSON.stringify(before)} and ${JSON.stringify(after)} ${differences.length} things are lost`, () => {
    assert.deepEqual(lost(before, after), differences)
  })
}
