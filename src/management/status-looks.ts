import { createHash } from 'node:crypto'
import { type Static, Type } from 'typebox'
import { EXPECTS, errorResponses, type HttpApp, model, nullable, Uuid } from '../http/index.ts'
import { invalidRequest, notFound } from '../lib/index.ts'
import type { Kysely, StatusLooksRow, Tables } from '../store/index.ts'
import { writeAudit } from './audit.ts'
import { Patterned } from './client-schemas.ts'
import { type Context, contextOf, lockClient, type ManagementOptions } from './context.ts'
import { withoutMetadata } from './logo-metadata.ts'

const Accent = nullable(Patterned('^#[0-9a-f]{6}$', 'a colour like #2f5fd0'))
/** Least contrast of lines and marks against white; the dark page lightens the colour. */
const LEAST_CONTRAST = 3
/** Largest logo, bytes. */
const LOGO_BYTES_MAX = 65_536
/** Longest side, px: a small file can contain an image that takes gigabytes to draw. */
const LOGO_SIDE_MAX = 1_024

export const StatusLooks = model('StatusPageLooks', {
  accent: Type.Unsafe<string | null>({
    ...Accent,
    description: 'Colour of the line at the top of the page; null: none',
  }),
  logo: nullable(Type.String({ description: 'Changes when the picture changes; null: no picture' })),
})
export type StatusLooks = Static<typeof StatusLooks>

export const UpdateStatusLooks = Type.Partial(
  Type.Object({
    accent: Type.Unsafe<string | null>({
      ...Accent,
      description: `Six hex digits; the contrast against white must be at least ${LEAST_CONTRAST} : 1`,
    }),
    logo: nullable(
      Type.String({
        maxLength: Math.ceil(LOGO_BYTES_MAX / 3) * 4,
        pattern: '^[A-Za-z0-9+/]+={0,2}$',
        [EXPECTS]: 'base64',
        description: `A PNG, JPEG or WebP as base64: at most ${LOGO_BYTES_MAX} bytes and ${LOGO_SIDE_MAX} px per side. Metadata are removed`,
      }),
    ),
  }),
  { additionalProperties: false },
)
export type UpdateStatusLooks = Static<typeof UpdateStatusLooks>

const PLAIN = { accent: null, logo: null, logo_type: null } as const

/** A client's colour and logo. */
export const readStatusLooks = (db: Kysely<Tables>, clientId: string): Promise<StatusLooksRow | undefined> =>
  db.selectFrom('status_looks').selectAll().where('client_id', '=', clientId).executeTakeFirst()

export const statusLooks = (row: Pick<StatusLooksRow, 'accent' | 'logo'> | undefined): StatusLooks => ({
  accent: row?.accent ?? null,
  logo: row?.logo == null ? null : logoFingerprint(row.logo),
})

/** Identifies an image by its content. @param base64 all of its bytes */
export const logoFingerprint = (base64: string): string =>
  createHash('sha256').update(base64).digest('base64url').slice(0, 16)

/**
 * Returns the columns of the picture, empty when none is given.
 *
 * @throws AppError `invalid_request` for a colour that is too pale or a file that is not an image
 */
export function checkedLooks({ accent, logo }: UpdateStatusLooks): Partial<Pick<StatusLooksRow, 'logo' | 'logo_type'>> {
  if (accent != null && contrastOnWhite(accent) < LEAST_CONTRAST) {
    throw invalidRequest(
      '/accent',
      `must have a contrast of at least ${LEAST_CONTRAST} : 1 against white: choose a darker colour`,
    )
  }
  return logo === undefined ? {} : logo === null ? { logo: null, logo_type: null } : checkedLogo(logo)
}

/** @throws AppError `not_found` or `invalid_request`, see `checkedLooks` */
async function updateStatusLooks(ctx: Context, clientId: string, input: UpdateStatusLooks): Promise<StatusLooks> {
  const { accent } = input
  const picture = checkedLooks(input)
  return ctx.store.write.transaction().execute(async (trx) => {
    if ((await lockClient(trx, clientId)) === undefined) throw notFound('Client')
    const before = await readStatusLooks(trx, clientId)
    const after = { client_id: clientId, ...PLAIN, ...before, ...(accent === undefined ? {} : { accent }), ...picture }
    const [was, is] = [statusLooks(before), statusLooks(after)]
    if (was.accent === is.accent && was.logo === is.logo) return is
    await trx
      .insertInto('status_looks')
      .values(after)
      .onConflict((conflict) => conflict.column('client_id').doUpdateSet(after))
      .execute()
    await writeAudit(trx, ctx, [{ entity: 'status_page', verb: 'update', id: clientId, before: was, after: is }])
    return is
  })
}

function checkedLogo(base64: string): { logo: string; logo_type: string } {
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.length > LOGO_BYTES_MAX) throw invalidRequest('/logo', `must have at most ${LOGO_BYTES_MAX} bytes`)
  const logo = logoOf(bytes)
  if (logo === null) throw invalidRequest('/logo', 'must be a PNG, JPEG or WebP: SVG can contain scripts')
  if (Math.max(logo.width, logo.height) > LOGO_SIDE_MAX) {
    throw invalidRequest(
      '/logo',
      `must have at most ${LOGO_SIDE_MAX} px per side, but has ${logo.width} × ${logo.height}`,
    )
  }
  return { logo: withoutMetadata(bytes).toString('base64'), logo_type: logo.type }
}

/** Returns what is kept of a logo, as base64: all of it when it is no image, and is refused. */
export function keptLogo(base64: string): string {
  const bytes = Buffer.from(base64, 'base64')
  return (logoOf(bytes) === null ? bytes : withoutMetadata(bytes)).toString('base64')
}

/** Contrast ratio as in WCAG 2. @param colour `#rrggbb` */
export function contrastOnWhite(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4
  })
  return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05)
}

const tags = ['Clients']
const path = '/api/clients/:client_id/status-page'
const Params = Type.Object({ client_id: Uuid })

export function statusLooksRoutes(app: HttpApp, options: ManagementOptions): void {
  const { store } = options

  app.get(
    path,
    {
      schema: {
        tags,
        summary: "Read how a client's status page looks",
        params: Params,
        response: { 200: StatusLooks, ...errorResponses(404) },
      },
    },
    async ({ params: { client_id } }) => {
      const client = await store.read.selectFrom('clients').select('id').where('id', '=', client_id).executeTakeFirst()
      if (client === undefined) throw notFound('Client')
      return statusLooks(await readStatusLooks(store.read, client_id))
    },
  )

  app.get(
    `${path}/logo`,
    {
      schema: {
        tags,
        summary: "Read the logo of a client's status page",
        description: 'The picture itself, whether the page is shared or not.',
        params: Params,
        response: {
          200: {
            description: 'A picture: PNG, JPEG or WebP',
            content: { 'image/*': { schema: Type.Unsafe<Buffer>({ type: 'string', format: 'binary' }) } },
          },
          ...errorResponses(404),
        },
      },
    },
    async ({ params: { client_id } }, reply) => {
      const looks = await readStatusLooks(store.read, client_id)
      if (looks === undefined || looks.logo === null || looks.logo_type === null) throw notFound('Logo')
      // Opened directly, it is a document of our origin.
      reply.header('content-security-policy', "default-src 'none'; sandbox")
      return reply.type(looks.logo_type).send(Buffer.from(looks.logo, 'base64'))
    },
  )

  app.patch(
    path,
    {
      schema: {
        tags,
        summary: "Change how a client's status page looks",
        description: 'Its colour and logo; only the fields to change. They stay when the link is revoked.',
        params: Params,
        body: UpdateStatusLooks,
        response: { 200: StatusLooks, ...errorResponses(404) },
      },
    },
    async (request) => updateStatusLooks(contextOf(options, request), request.params.client_id, request.body),
  )
}

interface Logo {
  type: 'image/png' | 'image/jpeg' | 'image/webp'
  width: number
  height: number
}

type Size = Omit<Logo, 'type'>

/**
 * The type and size of an image, detected from its bytes whatever the sender claims: PNG, JPEG or WebP, which cannot contain
 * scripts. Null for anything else, or when the size cannot be read. SVG is left out on purpose.
 */
export function logoOf(bytes: Buffer): Logo | null {
  const png = pngSize(bytes)
  if (png !== null) return { type: 'image/png', ...png }
  const jpeg = jpegSize(bytes)
  if (jpeg !== null) return { type: 'image/jpeg', ...jpeg }
  const webp = webpSize(bytes)
  return webp === null ? null : { type: 'image/webp', ...webp }
}

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

function pngSize(bytes: Buffer): Size | null {
  if (bytes.length < 33 || !bytes.subarray(0, 8).equals(PNG) || fourcc(bytes, 12) !== 'IHDR') return null
  return sized(bytes.readUInt32BE(16), bytes.readUInt32BE(20))
}

/** Skips from marker to marker until the one that begins a frame. */
function jpegSize(bytes: Buffer): Size | null {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) return null
  for (let at = 2; at + 9 <= bytes.length; ) {
    if (bytes[at] !== 0xff) return null
    const marker = bytes[at + 1] ?? 0
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
    if (isFrame) return sized(bytes.readUInt16BE(at + 7), bytes.readUInt16BE(at + 5))
    const length = bytes.readUInt16BE(at + 2)
    if (length < 2) return null
    at += 2 + length
  }
  return null
}

function webpSize(bytes: Buffer): Size | null {
  if (bytes.length < 30 || fourcc(bytes, 0) !== 'RIFF' || fourcc(bytes, 8) !== 'WEBP') return null
  switch (fourcc(bytes, 12)) {
    case 'VP8 ':
      return bytes.readUIntBE(23, 3) === 0x9d012a
        ? sized(bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff)
        : null
    case 'VP8L': {
      if (bytes[20] !== 0x2f) return null
      const bits = bytes.readUInt32LE(21)
      return sized((bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1)
    }
    case 'VP8X':
      return sized(bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1)
    default:
      return null
  }
}

const fourcc = (bytes: Buffer, at: number): string => bytes.toString('latin1', at, at + 4)

const sized = (width: number, height: number): Size | null => (width > 0 && height > 0 ? { width, height } : null)
