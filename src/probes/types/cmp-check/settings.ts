import { type Static, Type } from 'typebox'

export const CmpSettings = Type.Object(
  {
    own_address: Type.Optional(
      Type.String({
        minLength: 4,
        maxLength: 200,
        description:
          'Part of an address that only the consent platform has, e.g. consent.example.com/cmp.js, for one that is proxied or in no table',
      }),
    ),
    check_script: Type.Boolean({
      default: true,
      description: "Whether the provider's script has to answer",
    }),
    check_consent_mode: Type.Boolean({
      default: true,
      description: "Whether Google's consent defaults have to be set, whole, before measurement begins",
    }),
    user_agent: Type.String({
      minLength: 1,
      maxLength: 300,
      pattern: '^[\\x20-\\x7e]+$',
      default: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
      description: 'How the check introduces itself to the site',
    }),
  },
  { additionalProperties: false },
)

export type CmpSettings = Static<typeof CmpSettings>
