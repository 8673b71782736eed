import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { REPOSITORY } from '../../testkit/repository.ts'

test('every page of the docs is in the navigation of their site', () => {
  const config = readFileSync(join(REPOSITORY, 'site/.vitepress/config.ts'), 'utf8')
  const listed = new Set([...config.matchAll(/^ +\['[^']+', '([a-z-]+)'\],$/gm)].map(([, page]) => page))
  const pages = readdirSync(join(REPOSITORY, 'docs')).filter((file) => file.endsWith('.md'))
  assert.deepEqual(
    pages.map((file) => basename(file, '.md')).filter((page) => !listed.has(page)),
    [],
  )
  assert.deepEqual(
    [...listed].filter((page) => !pages.includes(`${page}.md`)),
    [],
  )
})
