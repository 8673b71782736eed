import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { REPOSITORY } from '../../testkit/repository.ts'
import { LOOKED_AT } from '../e2e/support/looked-at.ts'

const ROUTES = 'web/src/routes'
/** Where routes are made. */
const FILES = ['pages.ts', 'root.tsx']
const PATH = /^\s+path: '([^']+)',$/gm
/** Leads on to another page, and shows none. */
const REDIRECTS: readonly string[] = ['/']

/** Every address of the dashboard's router that shows a page, as its sources name it. */
const addresses = (): string[] =>
  FILES.flatMap((file) => {
    const source = readFileSync(join(REPOSITORY, ROUTES, file), 'utf8')
    const found = [...source.matchAll(PATH)].flatMap(([, path]) => path ?? [])
    // A route without a path holds others; one whose path is written in another way would be missed here.
    const made = source.match(/^\s*(?:export const \w+ = )?createRoute\(\{$/gm)?.length ?? 0
    const pathless = source.match(/^\s+id: '/gm)?.length ?? 0
    assert.equal(found.length + pathless, made + (source.match(/^const kit = createRoute/gm)?.length ?? 0), file)
    return found
  }).filter((path) => !REDIRECTS.includes(path))

test('axe looks at every page of the router, and at none that is gone', () => {
  const found = addresses()
  assert.ok(found.length > 25)
  assert.deepEqual(found.toSorted(), Object.keys(LOOKED_AT).toSorted())
})

for (const file of new Set(Object.values(LOOKED_AT))) {
  test(`test/e2e/${file}.test.ts has axe look at pages, at night in each theme and on each device`, () => {
    const path = join(REPOSITORY, 'test/e2e', `${file}.test.ts`)
    assert.ok(existsSync(path), 'there is no such test')
    const source = readFileSync(path, 'utf8')
    assert.match(source, /of (VARIANTS|chiefly\('\w+'\))\) \{/)
    assert.match(source, /assertAccessible\(/)
  })
}
