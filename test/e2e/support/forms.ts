import type { Page } from 'playwright-core'

/** Signs in on the page that asks for a key, and waits until it leads on. */
export async function signIn(page: Page, token: string): Promise<void> {
  await page.getByLabel('Key', { exact: true }).fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor({ state: 'detached' })
}

/** Chooses an option of a list that opens. */
export async function choose(page: Page, label: string, option: string): Promise<void> {
  await page.getByRole('combobox', { name: label }).click()
  await page.getByRole('option', { name: option, exact: true }).click()
}

/** How far the page can be scrolled to the right, px. */
export const sideways = (page: Page): Promise<number> =>
  page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth')
