import { openBrowser } from './browser.ts'

const WIDTH = 160
const HEIGHT = 44

/** A picture as a company has one, base64: one of a single pixel shows nothing of how a page looks with it. */
export async function drawLogo(name: string, colour: string): Promise<string> {
  const page = await (await openBrowser()).newPage({ viewport: { width: WIDTH, height: HEIGHT } })
  try {
    await page.setContent(`<body style="margin:0"><svg width="${WIDTH}" height="${HEIGHT}">
      <rect width="${WIDTH}" height="${HEIGHT}" rx="8" fill="${colour}"/>
      <path d="M12 32 24 12 36 32Z" fill="#fff"/>
      <text x="46" y="29" fill="#fff" font-family="sans-serif" font-size="18" font-weight="700">${name}</text>
    </svg>`)
    return (await page.screenshot({ omitBackground: true })).toString('base64')
  } finally {
    await page.close()
  }
}
