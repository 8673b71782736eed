import type { Generated, Selectable } from 'kysely'

/** A person with an account. Times in epoch ms. */
export interface UserTable {
  id: string
  /** As entered. */
  email: string
  /** In lower case; unique among users. */
  email_key: string
  name: string
  /** The password hashed by scrypt, with its parameters; null: never set. */
  password_hash: string | null
  created_at: number
  created_by: string
  last_sign_in_at: number | null
  /** Since when sign-in is disabled; null: enabled. */
  disabled_at: number | null
}

/** What a user may do with a client. */
export interface UserRoleTable {
  user_id: string
  /** `all`: every client, and the service itself. */
  client_id: string
  role: 'viewer' | 'editor' | 'owner'
}

/** Links a user to a person at an identity provider. Times in epoch ms. */
export interface UserIdentityTable {
  id: string
  user_id: string
  /** The provider, as its tokens name it. */
  issuer: string
  /** The person, unique per issuer; it stays the same when their address or name changes. */
  subject: string
  created_at: number
}

/** A role from the groups of an identity at its last sign-in; it applies in the sessions that began with it. */
export interface IdentityRoleTable {
  identity_id: string
  /** `all`: every client, and the service itself. */
  client_id: string
  role: 'viewer' | 'editor' | 'owner'
}

/** The second step of a user's sign-in with a password. Times in epoch ms. */
export interface UserTwoStepTable {
  user_id: string
  /** Shared with the user's app, base 32. Not enough to sign in by itself. */
  secret: string
  created_at: number
  /** Since when codes are required; null: the app has not sent a code yet. */
  confirmed_at: number | null
  /** The time step of the last accepted code: no code of it or of an earlier one is accepted again. */
  last_step: number
  /** Consecutive wrong codes. */
  failures: number
  failed_at: number
}

/** A recovery code for when a user has lost the app. */
export interface UserRecoveryCodeTable {
  /** SHA-256 of the user's id and the code, base64url. */
  id: string
  user_id: string
  created_at: number
}

/** A link for setting the user's password, once. Times in epoch ms. */
export interface UserLinkTable {
  /** SHA-256 of the token in the link, base64url. */
  id: string
  user_id: string
  created_at: number
  expires_at: number
}

/** A session in a browser. Times in epoch ms. */
export interface SignInTable {
  /** SHA-256 of the cookie's value, base64url. */
  id: string
  role: 'admin' | 'viewer' | 'user'
  /** For a key its scrypt hash, for a user a hash of the stored password: the session ends when it no longer matches. */
  token_print: string
  expires_at: number
  /** Null: signed in with a key of the settings. */
  user_id: Generated<string | null>
  /** Its id in the API; it reveals nothing about the cookie. */
  public_id: Generated<string | null>
  created_at: Generated<number | null>
  last_seen_at: Generated<number | null>
  /** Browser and system, as in `Firefox on Linux`. */
  agent: Generated<string | null>
  /** The identity that it began with; null: a key or a password. */
  identity_id: Generated<string | null>
  /** What the identity provider expects at sign-out, encrypted; null: nothing that we know of. */
  sign_out_hint: Generated<string | null>
}

/** A token for programs. Times in epoch ms. */
export interface ApiTokenTable {
  id: string
  name: string
  /** SHA-256, base64url. */
  token_hash: string
  /** Its last characters, to tell tokens apart. */
  hint: string
  role: 'viewer' | 'editor' | 'owner'
  /** JSON list of client ids; null: every client. */
  client_ids: string | null
  created_at: number
  created_by: string
  expires_at: number | null
  /** To the minute. */
  last_used_at: number | null
}

export type UserRow = Selectable<UserTable>
export type UserRoleRow = Selectable<UserRoleTable>
export type ApiTokenRow = Selectable<ApiTokenTable>
