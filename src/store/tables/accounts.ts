import type { Generated, Selectable } from 'kysely'

/** Someone with an account. Times in epoch ms. */
export interface UserTable {
  id: string
  /** As it was typed. */
  email: string
  /** In lower case: no two users have the same. */
  email_key: string
  name: string
  /** What scrypt made of the password, with its parameters; null: it was never set. */
  password_hash: string | null
  created_at: number
  created_by: string
  last_sign_in_at: number | null
  /** Since when no one signs in with it; null: it is in use. */
  disabled_at: number | null
}

/** What a user may do of a client. */
export interface UserRoleTable {
  user_id: string
  /** `all`: of every client, and of the service itself. */
  client_id: string
  role: 'viewer' | 'editor' | 'owner'
}

/** Whom an identity provider knows a user as. Times in epoch ms. */
export interface UserIdentityTable {
  id: string
  user_id: string
  /** The provider, as its tokens name it. */
  issuer: string
  /** The person, who keeps it whatever their address and name become; no two identities of an issuer have the same. */
  subject: string
  created_at: number
}

/** What the groups of an identity gave at its last sign-in; it holds in the sessions that began with it. */
export interface IdentityRoleTable {
  identity_id: string
  /** `all`: of every client, and of the service itself. */
  client_id: string
  role: 'viewer' | 'editor' | 'owner'
}

/** The second step of a user's sign-in with a password. Times in epoch ms. */
export interface UserTwoStepTable {
  user_id: string
  /** Shared with the user's app, base 32. Alone it lets no one in. */
  secret: string
  created_at: number
  /** Since when codes are asked for; null: no code of the app has come yet. */
  confirmed_at: number | null
  /** The step of time of the last code that was taken: none up to it is taken again. */
  last_step: number
  /** Wrong codes in a row. */
  failures: number
  failed_at: number
}

/** What a user has instead of the app. */
export interface UserRecoveryCodeTable {
  /** SHA-256 of the user's id and the code, base64url. */
  id: string
  user_id: string
  created_at: number
}

/** An address that sets the user's password, once. Times in epoch ms. */
export interface UserLinkTable {
  /** SHA-256 of what is in the address, base64url. */
  id: string
  user_id: string
  created_at: number
  expires_at: number
}

/** A browser that is signed in. Times in epoch ms. */
export interface SignInTable {
  /** SHA-256 of the cookie's value, base64url. */
  id: string
  role: 'admin' | 'viewer' | 'user'
  /** Of a key what scrypt made of it, of a user a hash of the stored password: with another one the session ends. */
  token_print: string
  expires_at: number
  /** Null: it was got with a key of the settings. */
  user_id: Generated<string | null>
  /** By which it is named in the interface; it says nothing about the cookie. */
  public_id: Generated<string | null>
  created_at: Generated<number | null>
  last_seen_at: Generated<number | null>
  /** Browser and system, `Firefox on Linux`. */
  agent: Generated<string | null>
  /** By which identity it began; null: by a key or a password. */
  identity_id: Generated<string | null>
  /** What the identity provider wants to see at the sign-out, encrypted; null: nothing is known that it wants. */
  sign_out_hint: Generated<string | null>
}

/** A key for programs. Times in epoch ms. */
export interface ApiTokenTable {
  id: string
  name: string
  /** SHA-256, base64url. */
  token_hash: string
  /** Its last characters, to tell it from others. */
  hint: string
  role: 'viewer' | 'editor' | 'owner'
  /** JSON list of ids; null: every client. */
  client_ids: string | null
  created_at: number
  created_by: string
  expires_at: number | null
  /** To the minute. */
  last_used_at: number | null
}

export type UserIdentityRow = Selectable<UserIdentityTable>
export type UserRow = Selectable<UserTable>
export type UserRoleRow = Selectable<UserRoleTable>
export type ApiTokenRow = Selectable<ApiTokenTable>
