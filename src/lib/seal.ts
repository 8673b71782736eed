import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

/** What a sealed text is for; `open` refuses one that was made for another purpose. */
type Purpose = 'sign-in under way' | 'sign-out hint' | 'answer to a create'

const ALGORITHM = 'aes-256-gcm'
const IV_BYTES = 12
const TAG_BYTES = 16

/**
 * Encrypts what browsers or the store keep for us, so that no one else can read or change it. Every node with the same secret can
 * open it.
 */
export class Seal {
  readonly #key: Buffer

  constructor(secret: string) {
    // The label keeps texts of older versions readable.
    this.#key = Buffer.from(hkdfSync('sha256', secret, '', 'tagwarden oidc', 32))
  }

  close(text: string, purpose: Purpose): string {
    const iv = randomBytes(IV_BYTES)
    const cipher = createCipheriv(ALGORITHM, this.#key, iv).setAAD(Buffer.from(purpose))
    const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
    return Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64url')
  }

  /** Null for what was not sealed for this purpose, or with another secret. */
  open(sealed: string, purpose: Purpose): string | null {
    const bytes = Buffer.from(sealed, 'base64url')
    if (bytes.length < IV_BYTES + TAG_BYTES) return null
    const decipher = createDecipheriv(ALGORITHM, this.#key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
    decipher.setAAD(Buffer.from(purpose)).setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
    try {
      return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString('utf8')
    } catch {
      return null
    }
  }
}
