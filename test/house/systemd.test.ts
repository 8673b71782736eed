import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { SETTINGS } from '../../src/config.ts'
import { REPOSITORY } from '../../testkit/repository.ts'

const UNIT = join(REPOSITORY, 'deploy/tagwarden.service')
const unit = readFileSync(UNIT, 'utf8')
/** Of systemd's points from 0 to 100; 96 are those of a unit that says nothing. */
const MOST_EXPOSED = 20

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0 && process.platform === 'linux'
const WITH_SYSTEMD = { skip: hasSystemd ? false : 'there is no systemd-analyze here' }

test('the unit is one that systemd reads without a complaint', WITH_SYSTEMD, () => {
  const { stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', UNIT], { encoding: 'utf8' })
  // Node may be elsewhere on this machine, as may what other units of it ask for.
  const complaints = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('tagwarden.service'))
  assert.deepEqual(
    complaints.filter((line) => !/Command \/usr\/bin\/node is not executable/.test(line)),
    [],
  )
})

test('the unit leaves the service little to reach', WITH_SYSTEMD, () => {
  const args = ['security', '--offline=true', `--threshold=${MOST_EXPOSED}`, UNIT]
  const { status, stdout, stderr } = spawnSync('systemd-analyze', args, { encoding: 'utf8' })
  if (/unrecognized option|Unknown (?:command|option)/.test(stderr)) return
  assert.equal(status, 0, stdout)
})

test('what the unit sets are settings, and no secret stands in it', () => {
  const names = Object.values(SETTINGS).flatMap(({ name, secret }) => (secret ? [name, `${name}_FILE`] : [name]))
  const set = [...unit.matchAll(/^Environment=(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => ({ name, value }))
  assert.deepEqual(
    set.map(({ name }) => name).filter((name) => !names.includes(name)),
    ['NODE_ENV', 'MALLOC_ARENA_MAX'],
  )
  const secrets = Object.values(SETTINGS).flatMap(({ name, secret }) => (secret ? [name] : []))
  assert.deepEqual(
    set.filter(({ name }) => secrets.includes(name)),
    [],
  )
  // The engine compiles at run time.
  assert.doesNotMatch(unit, /^MemoryDenyWriteExecute=yes/m)
})

test('the unit lets the service list the addresses of its machine, without which it asks no one', () => {
  const [, families = ''] = /^RestrictAddressFamilies=(.*)$/m.exec(unit) ?? []
  assert.deepEqual(families.split(' '), ['AF_INET', 'AF_INET6', 'AF_UNIX', 'AF_NETLINK'])
})
