import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseDockerfile, reachesBuilder } from '../../scripts/dockerfile.ts'
import { REPOSITORY } from '../../testkit/repository.ts'

const text = (path: string) => readFileSync(join(REPOSITORY, path), 'utf8')

test('lines of a Dockerfile are read as a builder reads them', () => {
  const read = parseDockerfile(`# a comment
FROM --platform=$BUILDPLATFORM node:24 AS build
WORKDIR /build
COPY --from=node --chown=1000:1000 a b /c/
RUN mkdir a \\
  && true
ENV A=1 B=x=y
HEALTHCHECK --interval=30s \\
  CMD ["node", "-e", "1"]
CMD ["node"]
`)
  assert.deepEqual(read, [
    { kind: 'from', image: 'node:24', stage: 'build' },
    { kind: 'workdir', path: '/build' },
    { kind: 'copy', from: 'node', owner: '1000:1000', sources: ['a', 'b'], target: '/c/' },
    { kind: 'run', command: 'mkdir a && true' },
    { kind: 'env', values: { A: '1', B: 'x=y' } },
    { kind: 'health', args: ['node', '-e', '1'] },
    { kind: 'command', args: ['node'] },
  ])
})

for (const line of ['ADD a b', 'ARG TOKEN', 'COPY --parents a b', 'COPY a', 'FROM a b c d', 'SHELL ["sh"]']) {
  test(`"${line}" is refused, as no one could follow it`, () => {
    assert.throws(() => parseDockerfile(`${line}\n`), /cannot be followed: /)
  })
}

test('what the Dockerfile copies from here gets to the builder, and nothing that is not copied', () => {
  const ignoreFile = text('.dockerignore')
  const copied = parseDockerfile(text('Dockerfile')).flatMap((one) =>
    one.kind === 'copy' && one.from === null ? one.sources : [],
  )
  assert.ok(copied.length > 10)
  for (const path of copied) assert.ok(reachesBuilder(path, ignoreFile), path)
  const allowed = ignoreFile.split('\n').flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []))
  assert.deepEqual(
    allowed.filter((path) => !copied.some((one) => one === path || one.startsWith(`${path}/`))),
    [],
  )
})

test('the builder has every file that the package takes from here', () => {
  const [, list = ''] = /^const COPIED = \[(.*?)^\]/ms.exec(text('scripts/package.ts')) ?? []
  const packed = [...list.matchAll(/'([^']+)'/g)].map(([, path = '']) => path)
  assert.ok(packed.includes('README.md'))
  const copied = parseDockerfile(text('Dockerfile')).flatMap((one) => (one.kind === 'copy' ? one.sources : []))
  const isThere = (path: string) => copied.some((one) => one === path || path.startsWith(`${one}/`))
  assert.deepEqual(
    packed.filter((path) => !isThere(path)),
    [],
  )
})

test('secrets, data and builds of this machine do not get to the builder', () => {
  const ignoreFile = text('.dockerignore')
  for (const path of [
    '.env',
    'data/tagwarden.db',
    '.git/config',
    'node_modules/pg/index.js',
    'web/dist/index.html',
    'test/a.ts',
  ]) {
    assert.equal(reachesBuilder(path, ignoreFile), false, path)
  }
  assert.equal(reachesBuilder('web/src/main.tsx', ignoreFile), true)
})
