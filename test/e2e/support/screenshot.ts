import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import type { Variant } from './page.ts'

const IMAGES = join(import.meta.dirname, '../../../docs/images')

/** Writes a picture of a page, or of a part of it, for the docs, where `SCREENSHOTS=1` asks for them: other test runs leave the tree as it is. */
export async function screenshot(
  shown: Page | Locator,
  name: string,
  { scheme, device }: Required<Variant>,
): Promise<void> {
  if (process.env.SCREENSHOTS !== '1') return
  await mkdir(IMAGES, { recursive: true })
  await shown.screenshot({ path: join(IMAGES, `${name}-${scheme}-${device}.png`) })
}
