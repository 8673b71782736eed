import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { AT_NIGHT } from '../../testkit/length.ts'
import { REPOSITORY } from '../../testkit/repository.ts'
import { assertAccessible, openPage } from '../e2e/support/page.ts'
import { buildSite, serveSite } from './support.ts'

const LOOKS = [
  { scheme: 'light', device: 'desktop' },
  { scheme: 'dark', device: 'phone' },
] as const

const PAGES = globSync('*.md', { cwd: join(REPOSITORY, 'docs') })
  .map((file) => (file === 'index.md' ? '/' : `/${file.replace(/\.md$/, '.html')}`))
  .sort()

test('the site of the docs', AT_NIGHT, async (t) => {
  const said = await buildSite()
  assert.match(said, /0 dead links/)
  const url = await serveSite(t)

  for (const look of LOOKS) {
    for (const path of PAGES) {
      await t.test(`${path} opens in ${look.scheme} on a ${look.device}, and axe finds nothing`, async (t) => {
        const { page } = await openPage(t, url, path, look)
        await page.getByRole('heading', { level: 1 }).waitFor()
        await assertAccessible(page)
      })
    }
  }

  await t.test('the tour rests where motion is unwanted, and goes on by its buttons', async (t) => {
    const { page } = await openPage(t, url, '/')
    const tour = page.getByRole('region', { name: 'Tour' })
    await tour.getByText('1 of 5.').waitFor()
    await tour.getByRole('button', { name: 'Play' }).waitFor()
    await tour.getByRole('button', { name: 'Next picture' }).click()
    await tour.getByRole('img', { name: /^The incident/ }).waitFor()
    await tour.getByRole('button', { name: 'Previous picture' }).click()
    await tour.getByRole('button', { name: 'Previous picture' }).click()
    await tour.getByText('5 of 5.').waitFor()
  })

  await t.test('the search finds a probe, without a call to another host', async (t) => {
    const { page } = await openPage(t, url, '/')
    await page.getByRole('button', { name: 'Search' }).click()
    await page.getByRole('searchbox').fill('tag_missing')
    await page
      .getByRole('option', { name: /tag_missing/ })
      .first()
      .click()
    await page.waitForURL(/probes\.html#tag_missing/)
  })

  await t.test('the version is in the navigation, and links to sources lead to the repository', async (t) => {
    const { page } = await openPage(t, url, '/architecture.html')
    await page.getByRole('button', { name: /^v\d+\.\d+\.\d+/ }).waitFor()
    const source = page
      .getByRole('link', { name: 'loop.ts' })
      .or(page.getByRole('link', { name: 'Loop' }))
      .first()
    assert.match(
      (await source.getAttribute('href')) ?? '',
      /^https:\/\/github\.com\/example\/tagwarden\/blob\/main\/src\//,
    )
  })
})
