import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { REPOSITORY } from '../../testkit/repository.ts'
import { STATUSES } from '../../web/src/ui/status/status.ts'

const STYLES = readFileSync(join(REPOSITORY, 'web/src/ui/HeatStrip.module.css'), 'utf8')

for (const status of STATUSES) {
  test(`a bar of the status “${status}” has the colour of its status, and not black`, () => {
    assert.match(STYLES, new RegExp(`\\.bar\\[data-status="${status}"\\] \\{[^}]*fill: var\\(--${status}`))
  })
}
