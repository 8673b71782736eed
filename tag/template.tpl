___TERMS_OF_SERVICE___

By creating or modifying this file you agree to Google Tag Manager's Community
Template Gallery Developer Terms of Service available at
https://developers.google.com/tag-manager/gallery-tos (or such other URL as
Google may provide), as modified from time to time.


___INFO___

{
  "type": "TAG",
  "id": "cvt_temp_public_id",
  "version": 1,
  "securityGroups": [],
  "displayName": "Tagwarden Monitoring",
  "categories": [
    "ANALYTICS",
    "UTILITY",
    "TAG_MANAGEMENT"
  ],
  "brand": {
    "id": "brand_dummy",
    "displayName": "Tagwarden",
    "thumbnail": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAYAAACqaXHeAAAFhklEQVR4nOybb0xVZRzHv+dCIqBwNXANCsoEFS2wVKwXbcFtNGvKn4KaNdfsDy2ZJjmS6kXNWnNE1ipXFr5wtUrBam30ArAXrZrAJolQFynIhAoDROKPwH16fid01r3nPOfc+5wD7t7Pdl9wnt85z/l9nz+/3/PjXgeCHAeCnJAACHJCAiDICQmAICfciNGSvIaNiuIpg4I0BUos5PETY+xrhTn2uY9ktWAGUEQGqQV1udzsCCzGw/DWqZrsEtiMcAkwKM/CBhwKtqbm130MmzGwB7DlsAtFKUrJrzvE+7RtbxJ2xNd8DGxEUZT7UvLrP7FLhFkZBewUYdaGQbtEmNV5gB0izPpEyGoRrohM0EoRrphU2CoRDGSC9QySWZwYhRuvjUZi/Fz17zN9Y+j87W/8fGZEeC9PnQ931GQX8leX8l62CZCRGoOCrATcuToO8c45Pm36Bi/gaNNZHK7vQUvHkOazuAgfchEeliGC5QKkp8Sg/JFUVQAzHHcP4ZUDbk0hZIlgmQAOvlKf2bQEWzYmIRD2f9aNyo864fF4t8kQwZJN0DkvHFUvrArYeeKx3GR88HwGoiPDvNr4xriJb4wHuRTCgdRCugBRc8Owb1c6brtpga7dr7+PorqhV/2c/mNU1/b2mxdif3mG+uz/E6gIUpdATHQ43i1Pxy1LtWsmP3YNY3eVG41tg/+5vibNiZeeWKZGCC2a28/h0ZePY2RsyqvN3+UgdQZsLbxB13ka9Qeea/JynqBrBWWN6O7Vng23Lo/FkwXX+2zzdyZIE4DC2+Z7rtO12fV2O0bHPZrtNLLl77TrPQKP5yUje02czzZ/RJAiQByP63tK0nRtKMY3tQ9CBNmQrR4v8qUSp5FLmBVBigC7i5ep61+P9l/OwygiW0qkqE8tVBEKGvbAAFIE+O7EgNAmJvoqGCXeGSG0EfbJUJqaW78WAsQCMNYrMjlYexptglFbmjyPjwyERMxxqLZ6UDSgPvXgfSlwsKcgQFwVVtAssqEsrXTvSQyPTGnaREY4UOhKgIiiuxLVLFKLgaEJvlG2+cwMvVCUDJGJUABer6+EAegkV1JxAhOT2mG4bHMKFi3Unt7Utv3BxZrt9OziV1vQ1aufOF2EMbF/QoPOGtdR7tIbMMC3P/Rj55snMTnlW4Ronsl9WZkJ11rvMEbXqC3aR7ZH0DN37G1VD0mGUZhw9hqMl0yh0EK7qxHrnHXxqHx6JcLDtB8/ODyJnr5/RzIhPlI9P2hBzm97rRV1x/pgFD76fPWyTHeNq1HPzlTWxNNiHl/xkBFbOgu8vmMlFsw3vvv7YuD8BLZz579vFUeay+FzsKKjOnunyM7kAcLcTEi6JhIV21aoNQF/oFoAOd9zdszUfWaqRn6coMyJQKFvy4YkFPMcfn6UoX9Gq8uj6vNuvMdrAczkSX/a+SLes5E4AT/P0aoIn1Kh0ugdFN9z1i3CHauuRuYKp1c0+LN/HMf4gYjWOX30oonmW5l0nvC7kEDVWarSmhHhcmL5ppcwXRTt4UXRc3zUA8Ef54kABFC7DUgEWfBl8kVHTVaeWeeJAM8CiodUJ/UxQ6jOh/2V74/zRIAz4NJrzMhMuOT8ocIp+IkkAdTXsVUEGc4TEgUgbBKBsa/cYf33Buo8IVkAwmIRyPlu5wY0r56ABCwQgLBIBMnOExYJQEgWwQLnCQsFICSJwNDg7o69W7bzhMXfD5CQJ3DnPaPj661wnrB4BlzEz5kw7fyp2vXjsAibBCBMimCD84SNAhAGRWDsG8/oBZfVzhM2f0eI9gTX/Xx039cxqh2ecObY4bz6RpghUvPr+NEVpQxKCi+ahPPUtktR2AF3tctQFVoWMybAbCH0kxkEOSEBEOSEBECQE/QC/AMAAP//kXeq3QAAAAZJREFUAwC0uVvcONdtXAAAAABJRU5ErkJggg=="
  },
  "description": "Reports to Tagwarden how every tag of this server container ended and how long it took, and which user-data and e-commerce fields were there. Sends only yes or no, never what a field holds.",
  "containerContexts": [
    "SERVER"
  ]
}


___TEMPLATE_PARAMETERS___

[
  {
    "type": "TEXT",
    "name": "endpoint",
    "displayName": "Ingest endpoint",
    "simpleValueType": true,
    "valueHint": "https://tagwarden.example.com/ingest",
    "help": "The full address of your Tagwarden service, with <b>/ingest</b> at its end. The tag sends to exactly this address.",
    "alwaysInSummary": true,
    "valueValidators": [
      {
        "type": "NON_EMPTY",
        "errorMessage": "Enter the address, for example https://tagwarden.example.com/ingest"
      },
      {
        "type": "REGEX",
        "args": [
          "^(https://|\\{\\{).+$"
        ],
        "errorMessage": "The address has to start with https://"
      }
    ]
  },
  {
    "type": "TEXT",
    "name": "ingestKey",
    "displayName": "Ingest key",
    "simpleValueType": true,
    "help": "The key of the site: 43 characters, shown on the site's page in Tagwarden. Each site has its own.",
    "valueValidators": [
      {
        "type": "NON_EMPTY",
        "errorMessage": "Enter the ingest key of the site"
      },
      {
        "type": "REGEX",
        "args": [
          "^([A-Za-z0-9_-]{43}|\\{\\{.+\\}\\})$"
        ],
        "errorMessage": "An ingest key has 43 characters: letters, digits, - and _. Copy it again, without spaces"
      }
    ]
  },
  {
    "type": "CHECKBOX",
    "name": "trackUserData",
    "checkboxText": "Track user-data quality",
    "simpleValueType": true,
    "defaultValue": true,
    "help": "Also reports, with every event, <b>whether</b> an e-mail address, phone number, name, city and country were there. Their content is never sent."
  },
  {
    "type": "CHECKBOX",
    "name": "trackConsent",
    "checkboxText": "Track consent signals",
    "simpleValueType": true,
    "defaultValue": true,
    "help": "Also reports, with every event, whether its consent signals say <b>granted</b>, <b>denied</b> or nothing, and which tags ran while consent was denied. The signals themselves are never sent."
  },
  {
    "type": "CHECKBOX",
    "name": "trackSignals",
    "checkboxText": "Track identifiers and values",
    "simpleValueType": true,
    "defaultValue": true,
    "help": "Also reports <b>whether</b> there was an event ID, client ID, fbp, fbc, click ID, IP address and user agent; and of commerce events whether the value is 0 or not a number, the currency not a code, the list of items empty, or the transaction ID a repeated one. None of them is ever sent."
  },
  {
    "type": "RADIO",
    "name": "sendMode",
    "displayName": "Send mode",
    "simpleValueType": true,
    "defaultValue": "per_event",
    "radioItems": [
      {
        "value": "per_event",
        "displayValue": "Per event (recommended)",
        "help": "One small request after each event. Shows everything Tagwarden can show, and nothing waits in the container."
      },
      {
        "value": "batched",
        "displayValue": "Batched",
        "help": "Counts in the container and sends the counts of many events at once: fewer requests, but no percentiles and no table of events by tags. An instance that stops loses the counts it had not sent."
      }
    ]
  },
  {
    "type": "TEXT",
    "name": "batchSize",
    "displayName": "Batch size",
    "simpleValueType": true,
    "defaultValue": 50,
    "valueUnit": "events",
    "help": "How many events an instance of the container counts before it sends, 1 to 500. A stopping instance loses up to this many, less one.",
    "enablingConditions": [
      {
        "paramName": "sendMode",
        "paramValue": "batched",
        "type": "EQUALS"
      }
    ],
    "valueValidators": [
      {
        "type": "REGEX",
        "args": [
          "^([1-9]|[1-9][0-9]|[1-4][0-9][0-9]|500|\\{\\{.+\\}\\})$"
        ],
        "errorMessage": "Enter a whole number from 1 to 500"
      }
    ]
  },
  {
    "type": "TEXT",
    "name": "sampleEvery",
    "displayName": "Send one event in",
    "simpleValueType": true,
    "defaultValue": 1,
    "valueUnit": "events",
    "help": "1 sends every event. With 10, one in ten is sent, at random, and counted ten times; events on which a tag failed are always sent. It can be a variable, such as a lookup table with 1 for purchases. Totals stay right on average, small numbers become less exact. 1 to 1000.",
    "valueValidators": [
      {
        "type": "REGEX",
        "args": [
          "^([1-9]|[1-9][0-9]{1,2}|1000|\\{\\{.+\\}\\})$"
        ],
        "errorMessage": "Enter a whole number from 1 to 1000"
      }
    ]
  },
  {
    "type": "SIMPLE_TABLE",
    "name": "excludeTagIds",
    "displayName": "Tags to exclude from monitoring",
    "newRowButtonText": "Add tag ID",
    "help": "A tag with the additional metadata <b>exclude</b> = <b>true</b> is left out without being listed here: set that on <b>this tag itself</b>, or save it, and read its ID from the number after <b>/tags/</b> in the address bar of the browser.",
    "simpleTableColumns": [
      {
        "type": "TEXT",
        "name": "tagId",
        "displayName": "Tag ID",
        "defaultValue": "",
        "valueHint": "42",
        "isUnique": true,
        "valueValidators": [
          {
            "type": "NON_EMPTY"
          },
          {
            "type": "POSITIVE_NUMBER",
            "errorMessage": "A tag ID is a number"
          }
        ]
      }
    ]
  },
  {
    "type": "SIMPLE_TABLE",
    "name": "ownParameters",
    "displayName": "Custom parameters",
    "newRowButtonText": "Add parameter",
    "help": "Up to 20 parameters of your choice: reports <b>whether</b> each was present on the events that it belongs to. Give each a name and the variable that holds it; its content is never sent.",
    "simpleTableColumns": [
      {
        "type": "TEXT",
        "name": "name",
        "displayName": "Name in Tagwarden",
        "defaultValue": "",
        "valueHint": "customer_group",
        "valueValidators": [
          {
            "type": "NON_EMPTY",
            "errorMessage": "Enter the name under which Tagwarden shows it"
          },
          {
            "type": "REGEX",
            "args": [
              "^[^{}]+$"
            ],
            "errorMessage": "Enter a fixed name: what a variable holds would be sent"
          }
        ]
      },
      {
        "type": "TEXT",
        "name": "value",
        "displayName": "Variable",
        "defaultValue": "",
        "valueHint": "{{Customer group}}",
        "valueValidators": [
          {
            "type": "REGEX",
            "args": [
              "^\\{\\{.+\\}\\}$"
            ],
            "errorMessage": "Choose a variable: fixed text would be there on every event"
          }
        ]
      },
      {
        "type": "TEXT",
        "name": "eventName",
        "displayName": "Only on event",
        "defaultValue": "",
        "valueHint": "purchase"
      }
    ]
  },
  {
    "type": "GROUP",
    "name": "advanced",
    "displayName": "Advanced",
    "groupStyle": "ZIPPY_CLOSED",
    "subParams": [
      {
        "type": "TEXT",
        "name": "tagNameKey",
        "displayName": "Key of the tag name",
        "simpleValueType": true,
        "defaultValue": "name",
        "help": "What you typed as <b>Key for tag name</b> when you ticked <b>Include tag name</b> under the additional metadata of your tags. Without a name a tag is shown by its ID."
      },
      {
        "type": "TEXT",
        "name": "maxBatchAgeSeconds",
        "displayName": "Maximum age of a batch",
        "simpleValueType": true,
        "defaultValue": 60,
        "valueUnit": "seconds",
        "help": "A batch this old is sent although it is not full. A server container has no timer, so the next event is what sends it. 0 sends full batches only.",
        "enablingConditions": [
          {
            "paramName": "sendMode",
            "paramValue": "batched",
            "type": "EQUALS"
          }
        ],
        "valueValidators": [
          {
            "type": "REGEX",
            "args": [
              "^([0-9]{1,5}|\\{\\{.+\\}\\})$"
            ],
            "errorMessage": "Enter whole seconds from 0 to 99999"
          }
        ]
      },
      {
        "type": "SELECT",
        "name": "previewTraffic",
        "displayName": "Events of previews",
        "simpleValueType": true,
        "macrosInSelect": false,
        "defaultValue": "count",
        "selectItems": [
          {
            "value": "count",
            "displayValue": "Count like any other"
          },
          {
            "value": "mark",
            "displayValue": "Send, and keep out of the counts"
          },
          {
            "value": "skip",
            "displayValue": "Do not send"
          }
        ],
        "help": "Pages on gtm-msr.appspot.com, where Google scans containers, belong to them. What is kept out of the counts is still listed among the latest payloads, so that you see that it arrives."
      },
      {
        "type": "SELECT",
        "name": "otherEnvironments",
        "displayName": "Events of other environments",
        "simpleValueType": true,
        "macrosInSelect": false,
        "defaultValue": "count",
        "selectItems": [
          {
            "value": "count",
            "displayValue": "Count like any other"
          },
          {
            "value": "mark",
            "displayValue": "Send, and keep out of the counts"
          },
          {
            "value": "skip",
            "displayValue": "Do not send"
          }
        ],
        "help": "Events from a tag server that runs an environment of this container other than the live one, such as staging. Where the container does not name its environment, events count."
      },
      {
        "type": "TEXT",
        "name": "liveEnvironment",
        "displayName": "Live environment",
        "simpleValueType": true,
        "defaultValue": "Live",
        "help": "The name of the environment whose events count, as under Admin, Environments. Double-check it: while it is wrong, <b>nothing is counted</b>.",
        "enablingConditions": [
          {
            "paramName": "otherEnvironments",
            "paramValue": "count",
            "type": "NOT_EQUALS"
          }
        ]
      },
      {
        "type": "SELECT",
        "name": "logMode",
        "displayName": "Log to console",
        "simpleValueType": true,
        "macrosInSelect": false,
        "defaultValue": "preview",
        "selectItems": [
          {
            "value": "off",
            "displayValue": "Never"
          },
          {
            "value": "preview",
            "displayValue": "In preview mode"
          },
          {
            "value": "failures",
            "displayValue": "In preview mode, and failures always"
          }
        ],
        "help": "Lines say what was sent and how the service answered, without keys and without data of users. Your cloud provider may charge for log lines."
      }
    ]
  }
]


___SANDBOXED_JS_FOR_SERVER___

const addEventCallback = require('addEventCallback');
const addMessageListener = require('addMessageListener');
const generateRandom = require('generateRandom');
const getClientName = require('getClientName');
const getContainerVersion = require('getContainerVersion');
const getEventData = require('getEventData');
const getTimestampMillis = require('getTimestampMillis');
const getType = require('getType');
const JSON = require('JSON');
const logToConsole = require('logToConsole');
const makeNumber = require('makeNumber');
const makeString = require('makeString');
const Math = require('Math');
const Object = require('Object');
const sendHttpRequest = require('sendHttpRequest');
const sha256Sync = require('sha256Sync');
const templateDataStorage = require('templateDataStorage');

// The limits of the service.
const MAX_TAGS = 500;
const MAX_NAME_LENGTH = 256;
const MAX_ID_LENGTH = 64;
const MAX_INTEGER = 9007199254740991;
const MAX_OWN_PARAMETERS = 20;
const MAX_CLIENTS = 10;
const OUTCOMES = ['success', 'failure', 'timeout', 'exception'];

// What other templates send with sendMessage: { tag: id or name of the tag, status: of the answer or its first digit, 0 without one }.
const STATUS_MESSAGE = 'tagwarden_status';
// The better first; of several answers of one tag the worst counts.
const RESPONSES = ['2xx', '3xx', '4xx', '5xx', 'none'];

// Below the five seconds after which a note says that promises of the sandbox end: the tag is to know how its own requests end.
const TIMEOUT_MS = 4500;

// Events of its like that one may stand for.
const MAX_WEIGHT = 1000;

// Event names come from the outside: a batch names so many, and counts further ones together.
const MAX_NAMES = 500;
const OTHER = '(other)';
// For a name that holds an e-mail address: those belong to no one's event names, but a site may put them there.
const HIDDEN = '(hidden)';

// A batch without an answer may have been counted, even one that a proxy answers with 503 for: it is repeated as it is, under the
// same key, which counts it once, and never added to others. While the endpoint fails, one batch is tried after each pause.
const RETRY_PAUSE_MS = 30000;
// What is counted meanwhile, and was never sent, waits in slices, which grow too old one by one.
const MAX_SLICE_MS = 300000;
// Sent at once when the endpoint answers again.
const MAX_AT_ONCE = 10;
// The memory is the container's.
const MAX_HELD_MS = 3600000;
const MAX_HELD_NAMES = 10000;
// An endpoint or key that comes from a variable may differ with every event.
const MAX_BUFFERS = 100;

const COMMERCE_EVENTS = [
  'add_payment_info', 'add_shipping_info', 'add_to_cart', 'add_to_wishlist', 'begin_checkout', 'purchase', 'refund',
  'remove_from_cart', 'select_item', 'select_promotion', 'view_cart', 'view_item', 'view_item_list', 'view_promotion'
];

// What sites send for a field that nobody filled: nothing, what JavaScript calls nothing, or the SHA-256 of these in hex or Base64. All in
// lower case, because some databases and languages write hex in upper case.
const NOTHING = [
  '', 'undefined', 'null',
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '47deqpj8hbsa+/timw+5jceuqerkm5nmpjwzg3hsufu=',
  'eb045d78d273107348b0300c01d29b7552d622abbc6faf81b3ec55359aa9950c',
  '6wrdenjzehnisdamadkbdvlwiqu8b6+bs+xvnzqplqw=',
  '74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b',
  'dcnomk/nsy+12vhzaslxiswzlgt5uha7jagykvmcuqs='
];

const PURPOSES = ['ad_storage', 'analytics_storage', 'ad_user_data', 'ad_personalization'];

// What a letter of x-ga-gcd says: four of its bits hold the default and the update after it, each denied, granted or not set.
const GCD_GRANTED = ['n', 'r', 't', 'v'];
const GCD_DENIED = ['m', 'p', 'q', 'u'];
const GCD_DEFAULT_ONLY = ['p', 't'];

const CLICK_IDS = ['gclid', 'gbraid', 'wbraid', 'dclid', 'fbclid', 'msclkid', 'ttclid'];

// Active codes of ISO 4217, up to its amendment 180: without the guilder of the Antilles (2025) and the lev (2026).
const CURRENCIES =
  ' AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CLF CLP ' +
  'CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS ' +
  'INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU ' +
  'MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK ' +
  'SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VED VES VND VUV WST XAF ' +
  'XCD XCG XOF XPF YER ZAR ZMW ZWG ';

// Purchases that an instance remembers, by a hash that is cut short, to know one that comes again.
const MAX_TRANSACTIONS = 500;
const TRANSACTION_HASH_LENGTH = 16;

const version = getContainerVersion();
const isPreview = version.previewMode === true || version.debugMode === true;

const log = (isFailure, text) => {
  if (data.logMode === 'off') return;
  if (isPreview || (isFailure && data.logMode === 'failures')) logToConsole('Tagwarden: ' + text);
};

const counted = (count, noun) => count + ' ' + noun + (count === 1 ? '' : 's');

const trimmed = (value) => getType(value) === 'string' ? value.trim() : '';

// Of what others send an object may stand where a text belongs, and one that cannot be made a text would end the tag.
const plainText = (value) => ['string', 'number', 'boolean'].indexOf(getType(value)) === -1 ? '' : makeString(value).trim();

// Where Google runs containers to scan them, as many templates say; it is not documented.
const isScan = () => trimmed(getEventData('page_location')).indexOf('https://gtm-msr.appspot.com/') === 0;

// Only what names itself as another is one: a container that says nothing of its environment may be the live one.
const isOtherEnvironment = () => {
  const named = trimmed(version.environmentName).toLowerCase();
  return named !== '' && named !== (trimmed(data.liveEnvironment) || 'Live').toLowerCase();
};

// What becomes of this event: 'count', 'mark' or 'skip'. A tag that was saved before there were these settings has nothing here.
const treatment = () => {
  if (isPreview || isScan()) return data.previewTraffic;
  return isOtherEnvironment() ? data.otherEnvironments : 'count';
};

const integerIn = (value, least, most, otherwise) => {
  if (value === undefined || value === null || value === '') return otherwise;
  const number = Math.floor(makeNumber(value));
  if (number !== number) return otherwise;
  if (number < least) return least;
  return number > most ? most : number;
};

// --- Presence: everything that looks at the event's data stands here, and only true or false leaves it. ---

const isPresentValue = (value) => {
  const type = getType(value);
  if (type === 'number') return value === value;
  return type === 'string' && NOTHING.indexOf(value.trim().toLowerCase()) === -1;
};

const isPresent = (value) => {
  const type = getType(value);
  if (type === 'array') return value.some((item) => isPresentValue(item));
  if (type === 'object') return Object.values(value).some((item) => isPresentValue(item));
  return isPresentValue(value);
};

const objectsIn = (value) => {
  if (getType(value) === 'array') return value.filter((item) => getType(item) === 'object');
  return getType(value) === 'object' ? [value] : [];
};

const hasAny = (holders, names) =>
  holders.some((holder) => names.some((name) => isPresent(holder[name]) || isPresent(holder['sha256_' + name])));

const topLevel = (names) => {
  const holder = {};
  names.forEach((name) => {
    holder[name] = getEventData(name);
  });
  return holder;
};

const userDataFlags = () => {
  const users = objectsIn(getEventData('user_data'));
  const addresses = users.reduce((found, user) => found.concat(objectsIn(user.address)), []);
  const top = [
    topLevel([
      'email', 'email_address', 'phone', 'phone_number', 'first_name', 'firstName', 'FirstName', 'nameFirst', 'last_name',
      'lastName', 'LastName', 'nameLast', 'city', 'country'
    ])
  ];
  return {
    has_email: hasAny(users.concat(top), ['email_address', 'email']),
    has_phone: hasAny(users.concat(top), ['phone_number', 'phone']),
    has_first_name: hasAny(addresses.concat(users, top), ['first_name', 'firstName', 'FirstName', 'nameFirst']),
    has_last_name: hasAny(addresses.concat(users, top), ['last_name', 'lastName', 'LastName', 'nameLast']),
    has_city: hasAny(addresses.concat(users, top), ['city']),
    has_country: hasAny(addresses.concat(users, top), ['country'])
  };
};

const firstOf = (holders, name) => holders.map((holder) => holder[name]).filter((value) => isPresent(value))[0];

const isCurrency = (value) => {
  const code = trimmed(value).toUpperCase();
  return code.length === 3 && CURRENCIES.indexOf(' ' + code + ' ') !== -1;
};

// True when this instance has seen it before from the same client: some sites send each purchase through two. Other instances may have,
// too, so this finds some of those that come again.
const isRepeated = (settings, transactionId) => {
  if (transactionId === '') return false;
  const key = JSON.stringify(['transactions', settings.tagId]);
  const hash = sha256Sync(settings.ingestKey + trimmed(getClientName()) + transactionId, { outputEncoding: 'hex' });
  const known = templateDataStorage.getItemCopy(key) || [];
  const short = hash.slice(0, TRANSACTION_HASH_LENGTH);
  if (known.indexOf(short) !== -1) return true;
  known.push(short);
  templateDataStorage.setItemCopy(key, known.slice(-MAX_TRANSACTIONS));
  return false;
};

const addValidity = (flags, settings, eventName, holders) => {
  const value = firstOf(holders, 'value');
  const number = makeNumber(plainText(value) || 'none');
  const currency = firstOf(holders, 'currency');
  const transactionId = firstOf(holders, 'transaction_id');
  flags.value_zero = value !== undefined && number === 0;
  flags.value_invalid = value !== undefined && number !== number;
  flags.currency_invalid = currency !== undefined && !isCurrency(currency);
  flags.transaction_duplicate = eventName === 'purchase' && isRepeated(settings, plainText(transactionId));
  flags.items_empty =
    !flags.has_items && holders.some((holder) => getType(holder.items) === 'array' && holder.items.length === 0);
};

const identifierFlags = () => {
  const top = topLevel(
    CLICK_IDS.concat([
      'event_id', 'client_id', 'fbp', '_fbp', 'x-fb-ck-fbp', 'fbc', '_fbc', 'x-fb-ck-fbc', 'ip_override', 'user_agent'
    ])
  );
  const holders = [top].concat(objectsIn(getEventData('common_cookie')));
  const query = trimmed(getEventData('page_location')).split('?').join('&').split('&').slice(1);
  const isInQuery = (name) => query.some((part) => part.indexOf(name + '=') === 0 && isPresent(part.slice(name.length + 1)));
  return {
    has_event_id: hasAny([top], ['event_id']),
    has_client_id: hasAny([top], ['client_id']),
    has_fbp: hasAny(holders, ['fbp', '_fbp', 'x-fb-ck-fbp']),
    has_fbc: hasAny(holders, ['fbc', '_fbc', 'x-fb-ck-fbc']),
    has_click_id: hasAny([top], CLICK_IDS) || CLICK_IDS.some(isInQuery),
    has_ip: hasAny([top], ['ip_override']),
    has_user_agent: hasAny([top], ['user_agent'])
  };
};

const commerceFlags = (settings, eventName) => {
  const holders = [topLevel(['value', 'currency', 'transaction_id', 'items'])].concat(
    objectsIn(getEventData('ecommerce'))
  );
  const flags = {
    has_value: hasAny(holders, ['value']),
    has_currency: hasAny(holders, ['currency']),
    has_transaction_id: hasAny(holders, ['transaction_id']),
    has_items: holders.some((holder) => getType(holder.items) === 'array' && holder.items.length > 0)
  };
  if (settings.trackSignals) addValidity(flags, settings, eventName, holders);
  return flags;
};

const ABSENT = 'absent';

const consentClass = (value) => {
  const text = plainText(value).toLowerCase();
  if (text === 'granted' || text === 'true' || text === '1') return 'granted';
  return text === 'denied' || text === 'false' || text === '0' ? 'denied' : ABSENT;
};

const gcdLetters = () => {
  const gcd = getEventData('x-ga-gcd');
  if (getType(gcd) !== 'string') return [];
  return PURPOSES.map((purpose, index) => gcd.charAt(2 + 2 * index));
};

const gcdClass = (letter) => {
  if (GCD_GRANTED.indexOf(letter) !== -1) return 'granted';
  return GCD_DENIED.indexOf(letter) === -1 ? ABSENT : 'denied';
};

// The first that says anything, in the order in which vendors' tags look. Only ads without personalisation are a matter of the site,
// too: what asks for them is served none that are personalised, whatever the visitor granted.
const consentClasses = () => {
  const letters = gcdLetters();
  const gcs = getEventData('x-ga-gcs');
  const digits = getType(gcs) === 'string' && gcs.indexOf('G1') === 0 ? [gcs.charAt(2), gcs.charAt(3)] : [];
  const state = objectsIn(getEventData('consent_state'))[0] || {};
  const isNonPersonal = plainText(getEventData('x-ga-npa')) === '1';
  const consent = {};
  PURPOSES.forEach((purpose, index) => {
    const said = [consentClass(state[purpose]), gcdClass(letters[index]), consentClass(digits[index])];
    if (purpose === 'ad_personalization' && isNonPersonal) said.unshift('denied');
    consent[purpose] = said.filter((one) => one !== ABSENT)[0] || ABSENT;
  });
  const set = letters.filter((letter) => gcdClass(letter) !== ABSENT);
  if (set.length > 0) consent.updated = set.some((letter) => GCD_DEFAULT_ONLY.indexOf(letter) === -1);
  const dma = consentClass(getEventData('x-ga-dma'));
  if (dma !== ABSENT) consent.dma = dma === 'granted';
  return consent;
};

// Names are kept with a mark in front, or an event called "constructor" would find what every object has.
const marked = (name) => '$' + name;

const unmarked = (counters) => {
  const named = {};
  Object.keys(counters).forEach((key) => {
    named[key.slice(1)] = counters[key];
  });
  return named;
};

// The service refuses more.
const hasRoomFor = (own, key) => own[key] !== undefined || Object.keys(own).length < MAX_OWN_PARAMETERS;

// Of the parameters in the table that belong to the event. Their variables have been resolved: what they hold stays here.
const ownFlags = (eventName) => {
  const flags = {};
  (data.ownParameters || []).forEach((row) => {
    const name = trimmed(row.name).slice(0, MAX_NAME_LENGTH);
    const only = trimmed(row.eventName);
    if (name === '' || (only !== '' && only !== eventName)) return;
    if (!hasRoomFor(flags, marked(name))) return;
    flags[marked(name)] = flags[marked(name)] === true || row.value === true || isPresent(row.value);
  });
  return flags;
};

const readEvent = (settings) => {
  const name = trimmed(getEventData('event_name')).slice(0, MAX_NAME_LENGTH) || 'unknown';
  return {
    name: name.indexOf('@') === -1 && name.indexOf('%40') === -1 ? name : HIDDEN,
    at: getTimestampMillis(),
    userData: settings.trackUserData ? userDataFlags() : undefined,
    commerce: COMMERCE_EVENTS.indexOf(name) === -1 ? undefined : commerceFlags(settings, name),
    consent: settings.trackConsent ? consentClasses() : undefined,
    identifiers: settings.trackSignals ? identifierFlags() : undefined,
    own: ownFlags(name)
  };
};

// --- Tags ---

// Ids are numbers at run time and text in the table.
const excludedIds = () => {
  const typed = (data.excludeTagIds || []).map((row) => makeString(row.tagId).trim());
  const own = data.gtmTagId;
  return getType(own) === 'number' || getType(own) === 'string' ? typed.concat([makeString(own)]) : typed;
};

// How vendors answered, by tag: the place in RESPONSES. Of a message only this is kept, and only that of a tag of the event is sent.
const responses = {};

const placeOf = (status) => {
  const number = getType(status) === 'number' || getType(status) === 'string' ? makeNumber(status) : -1;
  if (number === 0) return RESPONSES.length - 1;
  const place = Math.floor(number >= 100 ? number / 100 : number) - 2;
  return place >= 0 && place < RESPONSES.length - 1 ? place : -1;
};

const noteResponse = (messageType, message) => {
  if (getType(message) !== 'object') return;
  const place = placeOf(message.status);
  const key = marked(plainText(message.tag));
  if (place === -1 || (responses[key] === undefined && Object.keys(responses).length >= MAX_TAGS)) return;
  if (responses[key] === undefined || responses[key] < place) responses[key] = place;
};

const responseTo = (id, name) => {
  const places = [responses[marked(id)], name === '' ? undefined : responses[marked(name)]];
  const known = places.filter((place) => place !== undefined);
  return known.length === 2 && known[1] > known[0] ? known[1] : known[0];
};

const reportedTag = (tag, nameKey) => {
  const reported = {
    id: makeString(tag.id).slice(0, MAX_ID_LENGTH) || 'unknown',
    status: OUTCOMES.indexOf(tag.status) === -1 ? 'failure' : tag.status
  };
  const name = trimmed(tag[nameKey]).slice(0, MAX_NAME_LENGTH);
  if (name !== '') reported.name = name;
  const place = responseTo(reported.id, name);
  if (place !== undefined) reported.response = RESPONSES[place];
  const time = tag.executionTime;
  if (getType(time) === 'number' && time >= 0 && time <= MAX_INTEGER) reported.execution_time = Math.floor(time);
  return reported;
};

const reportedTags = (tags, excluded, nameKey) =>
  (tags || [])
    .filter((tag) => plainText(tag.exclude).toLowerCase() !== 'true' && excluded.indexOf(makeString(tag.id)) === -1)
    .slice(0, MAX_TAGS)
    .map((tag) => reportedTag(tag, nameKey));

// What is worth to be seen each time: a tag that failed, or a vendor that refused.
const isTrouble = (tag) => tag.status !== 'success' || RESPONSES.indexOf(tag.response) >= RESPONSES.indexOf('4xx');

// How many events this one stands for, 0 when it is one of those that are not sent. An event with trouble stands for itself, and of
// the others each has the same chance, so what is counted adds up, on average, to what there was.
const weightOf = (settings, tags) => {
  const every = settings.sampleEvery;
  if (every === 1 || isPreview || tags.some(isTrouble)) return 1;
  return generateRandom(1, every) === 1 ? every : 0;
};

// --- Sending ---

const newIdempotencyKey = (now) =>
  [now, generateRandom(0, 999999999), generateRandom(0, 999999999)].map((part) => makeString(part)).join('-');

// `done` gets the status of the answer, or 0 and the reason when there was none.
const post = (settings, payload, idempotencyKey, done) => {
  const headers = {
    'Content-Type': 'application/json',
    'X-Service-Key': settings.ingestKey,
    'Idempotency-Key': idempotencyKey
  };
  sendHttpRequest(settings.endpoint, { method: 'POST', headers: headers, timeout: TIMEOUT_MS }, JSON.stringify(payload)).then(
    (response) => done(response.statusCode, 'answered ' + response.statusCode),
    (failure) => done(0, (failure && failure.reason) || 'failed')
  );
};

const isAccepted = (status) => status >= 200 && status < 300;

// An answer that a repetition would not change.
const isRefused = (status) => status >= 400 && status < 500 && status !== 408 && status !== 429;

// What runs a preview is no version that anyone published.
const containerInfo = (clients) => ({
  version: makeString(version.version).slice(0, MAX_ID_LENGTH),
  environment: trimmed(version.environmentName).slice(0, MAX_ID_LENGTH),
  clients: clients
});

// The client that claimed the event.
const ownClients = () => {
  const name = trimmed(getClientName()).slice(0, MAX_ID_LENGTH);
  return name === '' ? [] : [name];
};

const addClients = (clients, others) =>
  clients.concat(others.filter((name) => clients.indexOf(name) === -1)).slice(0, MAX_CLIENTS);

const knowsVersion = version.version !== undefined && !isPreview;

const sendEvent = (settings, containerId, event, tags, weight) => {
  const payload = { container_id: containerId, event_name: event.name, timestamp_ms: event.at, tags: tags };
  if (weight > 1) payload.weight = weight;
  if (event.userData) payload.user_data = event.userData;
  if (event.commerce) payload.ecommerce = event.commerce;
  if (event.consent) payload.consent = event.consent;
  if (event.identifiers) payload.identifiers = event.identifiers;
  if (Object.keys(event.own).length > 0) payload.fields = unmarked(event.own);
  if (knowsVersion) payload.container = containerInfo(ownClients());
  if (settings.isMarked) payload.preview = true;
  // Sent once; with a key, what a proxy on the way sends again counts once, too.
  post(settings, payload, newIdempotencyKey(getTimestampMillis()), (status, outcome) => {
    log(!isAccepted(status), event.name + ' with ' + counted(tags.length, 'tag') + ': ' + outcome);
  });
};

// --- Batches: counters that add up. ---

const countOf = (flag) => flag ? 1 : 0;

const addNumbers = (target, source) => {
  Object.keys(source).forEach((key) => {
    target[key] = (target[key] || 0) + source[key];
  });
};

const slotFor = (counters, key) =>
  counters[key] !== undefined || Object.keys(counters).length < MAX_NAMES - 1 ? key : marked(OTHER);

const addEventCounts = (target, source) => {
  Object.keys(source).forEach((key) => {
    const slot = slotFor(target, key);
    target[slot] = (target[slot] || 0) + source[key];
  });
};

const addTagMetrics = (target, source) => {
  Object.keys(source).forEach((key) => {
    const slot = slotFor(target, key);
    if (target[slot] === undefined) target[slot] = {};
    addNumbers(target[slot], source[key]);
  });
};

const tagMetric = (tag, consent) => {
  const metric = { success: 0, failure: 0, timeout: 0, exception: 0, total_exec_ms: tag.execution_time || 0, count: 1 };
  metric[tag.status] = 1;
  if (tag.response) metric['response_' + tag.response] = 1;
  if (consent) {
    metric.consent_total = 1;
    metric.ad_storage_denied = countOf(consent.ad_storage === 'denied');
    metric.analytics_storage_denied = countOf(consent.analytics_storage === 'denied');
  }
  return metric;
};

const userDataCounts = (flags) => ({
  email: countOf(flags.has_email),
  phone: countOf(flags.has_phone),
  address: countOf(flags.has_first_name || flags.has_last_name),
  total: 1
});

const commerceCounts = (flags) => {
  const counts = {
    value: countOf(flags.has_value),
    currency: countOf(flags.has_currency),
    transaction_id: countOf(flags.has_transaction_id),
    items: countOf(flags.has_items),
    total: 1
  };
  if (flags.value_zero === undefined) return counts;
  counts.validity_total = 1;
  ['value_zero', 'value_invalid', 'currency_invalid', 'transaction_duplicate', 'items_empty'].forEach((fault) => {
    counts[fault] = countOf(flags[fault]);
  });
  return counts;
};

const identifierCounts = (flags) => {
  const counts = { total: 1 };
  Object.keys(flags).forEach((flag) => {
    counts[flag.slice(4)] = countOf(flags[flag]);
  });
  return counts;
};

const consentCounts = (consent) => {
  const counts = {
    total: 1,
    update_known: countOf(consent.updated !== undefined),
    never_updated: countOf(consent.updated === false),
    dma: countOf(consent.dma)
  };
  PURPOSES.forEach((purpose) => {
    counts[purpose + '_granted'] = countOf(consent[purpose] === 'granted');
    counts[purpose + '_denied'] = countOf(consent[purpose] === 'denied');
  });
  return counts;
};

const ownCounts = (flags) => {
  const counts = {};
  Object.keys(flags).forEach((key) => {
    counts[key] = { present: countOf(flags[key]), total: 1 };
  });
  return counts;
};

// A table that was changed meanwhile may have named others.
const addOwnCounts = (target, source) => {
  Object.keys(source).forEach((key) => {
    if (!hasRoomFor(target, key)) return;
    if (target[key] === undefined) target[key] = { present: 0, total: 0 };
    addNumbers(target[key], source[key]);
  });
  return target;
};

const batchOf = (event, tags) => {
  const batch = {
    window_start_ms: event.at,
    window_end_ms: event.at,
    total_events: 1,
    event_counts: {},
    tag_metrics: {},
    user_data_quality: event.userData ? userDataCounts(event.userData) : {},
    ecommerce_quality: event.commerce
      ? commerceCounts(event.commerce)
      : { value: 0, currency: 0, transaction_id: 0, items: 0, total: 0 },
    consent: event.consent ? consentCounts(event.consent) : {},
    identifiers: event.identifiers ? identifierCounts(event.identifiers) : {},
    fields: ownCounts(event.own),
    clients: ownClients()
  };
  batch.event_counts[marked(event.name)] = 1;
  tags.forEach((tag) => {
    const metrics = {};
    metrics[marked(tag.name || 'tag_' + tag.id)] = tagMetric(tag, event.consent);
    // Two tags may have one name.
    addTagMetrics(batch.tag_metrics, metrics);
  });
  return batch;
};

const scaled = (counts, weight) => {
  const result = {};
  Object.keys(counts).forEach((key) => {
    result[key] = getType(counts[key]) === 'object' ? scaled(counts[key], weight) : counts[key] * weight;
  });
  return result;
};

// What one event counts, for as many as it stands for.
const weighted = (batch, weight) => {
  if (weight === 1) return batch;
  batch.total_events = weight;
  [
    'event_counts', 'tag_metrics', 'user_data_quality', 'ecommerce_quality', 'consent', 'identifiers',
    'fields'
  ].forEach((part) => {
    batch[part] = scaled(batch[part], weight);
  });
  return batch;
};

const mergeInto = (batch, other) => {
  if (other.window_start_ms < batch.window_start_ms) batch.window_start_ms = other.window_start_ms;
  if (other.window_end_ms > batch.window_end_ms) batch.window_end_ms = other.window_end_ms;
  batch.total_events += other.total_events;
  addEventCounts(batch.event_counts, other.event_counts);
  addTagMetrics(batch.tag_metrics, other.tag_metrics);
  addNumbers(batch.user_data_quality, other.user_data_quality);
  addNumbers(batch.ecommerce_quality, other.ecommerce_quality);
  addNumbers(batch.consent, other.consent);
  addNumbers(batch.identifiers, other.identifiers);
  // Counts of a version of this template that knew neither may wait.
  batch.fields = addOwnCounts(batch.fields || {}, other.fields || {});
  batch.clients = addClients(batch.clients || [], other.clients || []);
  return batch;
};

const batchPayload = (settings, containerId, batch) => {
  const payload = {
    container_id: containerId,
    batch: true,
    window_start_ms: batch.window_start_ms,
    window_end_ms: batch.window_end_ms,
    total_events: batch.total_events,
    event_counts: unmarked(batch.event_counts),
    tag_metrics: unmarked(batch.tag_metrics)
  };
  if (settings.trackUserData) payload.user_data_quality = batch.user_data_quality;
  payload.ecommerce_quality = batch.ecommerce_quality;
  if (settings.trackConsent) payload.consent = batch.consent;
  if (settings.trackSignals) payload.identifiers = batch.identifiers;
  if (Object.keys(batch.fields || {}).length > 0) payload.fields = unmarked(batch.fields);
  if (knowsVersion) payload.container = containerInfo(batch.clients || []);
  if (settings.isMarked) payload.preview = true;
  return payload;
};

// The storage is shared by all tags of this template: what goes elsewhere or says something else is counted apart. All that sending
// needs is in the key.
const bufferKey = (settings, containerId) =>
  JSON.stringify([
    containerId,
    {
      tagId: settings.tagId,
      endpoint: settings.endpoint,
      ingestKey: settings.ingestKey,
      trackUserData: settings.trackUserData,
      trackConsent: settings.trackConsent,
      trackSignals: settings.trackSignals,
      isMarked: settings.isMarked
    }
  ]);

// Apart from the rest, which every event reads and writes.
const waitingKey = (key) => key + ' waiting';

const loadWaiting = (key) => templateDataStorage.getItemCopy(waitingKey(key)) || [];

const saveWaiting = (key, buffer, waiting) => {
  buffer.isWaiting = waiting.length > 0;
  templateDataStorage.setItemCopy(waitingKey(key), buffer.isWaiting ? waiting : null);
};

// From now on it is one batch, whatever becomes of it.
const sealOpen = (buffer, now) => {
  const sealed = { idempotencyKey: newIdempotencyKey(now), batch: buffer.open, mayBeCounted: false };
  buffer.open = null;
  return sealed;
};

const namesIn = (batch) => Object.keys(batch.event_counts).length + Object.keys(batch.tag_metrics).length;

const logDropped = (batch) =>
  log(true, 'dropped ' + counted(batch.total_events, 'event') + ' that could not be sent');

// The last have waited least: they stay.
const withinBounds = (waiting, now) => {
  const kept = [];
  let names = 0;
  for (let at = waiting.length - 1; at >= 0; at--) {
    const batch = waiting[at].batch;
    names += namesIn(batch);
    if (now - batch.window_end_ms <= MAX_HELD_MS && names <= MAX_HELD_NAMES) {
      kept.unshift(waiting[at]);
    } else {
      logDropped(batch);
    }
  }
  return kept;
};

const fitsInto = (open, batch) =>
  !open ||
  (batch.window_end_ms - open.window_start_ms <= MAX_SLICE_MS && open.window_end_ms - batch.window_start_ms <= MAX_SLICE_MS);

// Only 429 says for certain that nothing was counted: not now, and before if it was never without an answer.
const settleBatch = (key, sent, status) => {
  const now = getTimestampMillis();
  const buffer = templateDataStorage.getItemCopy(key);
  const isSettled = isAccepted(status) || isRefused(status);
  if (!buffer) {
    if (!isSettled) logDropped(sent.batch);
    return;
  }
  if (isSettled) {
    if (buffer.retryAt === 0) return;
    buffer.retryAt = 0;
  } else {
    buffer.retryAt = now + RETRY_PAUSE_MS;
    if (status !== 429) sent.mayBeCounted = true;
    if (!sent.mayBeCounted && fitsInto(buffer.open, sent.batch)) {
      buffer.open = buffer.open ? mergeInto(buffer.open, sent.batch) : sent.batch;
    } else {
      // Last in the line: one that is never accepted keeps none of the others waiting for ever.
      saveWaiting(key, buffer, withinBounds(loadWaiting(key).concat([sent]), now));
    }
  }
  templateDataStorage.setItemCopy(key, buffer);
};

const sendBatch = (settings, containerId, key, sent) => {
  const payload = batchPayload(settings, containerId, sent.batch);
  post(settings, payload, sent.idempotencyKey, (status, outcome) => {
    log(!isAccepted(status), 'batch of ' + counted(sent.batch.total_events, 'event') + ': ' + outcome);
    settleBatch(key, sent, status);
  });
};

const isDue = (settings, batch, now) =>
  isPreview ||
  batch.total_events >= settings.batchSize ||
  (settings.maxBatchAgeMs > 0 && now - batch.window_start_ms >= settings.maxBatchAgeMs);

// After a failure, until an answer comes. A pause that is longer than any was begun by a clock that was ahead.
const isPausing = (buffer, now) => now < buffer.retryAt && buffer.retryAt - now <= RETRY_PAUSE_MS;

// The batches to send now: all that is due, or one to see whether the endpoint answers again.
const takeDue = (settings, key, buffer, now) => {
  const isFailing = buffer.retryAt > 0;
  const isFull = isFailing ? now - buffer.open.window_start_ms >= MAX_SLICE_MS : isDue(settings, buffer.open, now);
  const sealed = isFull ? [sealOpen(buffer, now)] : [];
  if (isPausing(buffer, now)) {
    if (isFull) saveWaiting(key, buffer, withinBounds(loadWaiting(key).concat(sealed), now));
    return [];
  }
  if (!isFailing && !buffer.isWaiting) return sealed;
  const waiting = withinBounds(loadWaiting(key).concat(sealed), now);
  if (waiting.length === 0 && buffer.open && isDue(settings, buffer.open, now)) waiting.push(sealOpen(buffer, now));
  const due = waiting.splice(0, isFailing ? 1 : MAX_AT_ONCE);
  saveWaiting(key, buffer, waiting);
  if (isFailing && due.length > 0) buffer.retryAt = now + RETRY_PAUSE_MS;
  return due;
};

// Sends what the buffer holds, once: its answers find no buffer in which it could wait.
const closeBuffer = (key, now) => {
  const buffer = templateDataStorage.getItemCopy(key);
  if (!buffer) return;
  const held = loadWaiting(key).concat(buffer.open ? [sealOpen(buffer, now)] : []);
  templateDataStorage.setItemCopy(key, null);
  templateDataStorage.setItemCopy(waitingKey(key), null);
  held.slice(0, -MAX_AT_ONCE).forEach((sent) => logDropped(sent.batch));
  const parts = JSON.parse(key);
  held.slice(-MAX_AT_ONCE).forEach((sent) => sendBatch(parts[1], parts[0], key, sent));
};

const openBuffer = (key, now) => {
  const keys = (templateDataStorage.getItemCopy('buffers') || []).concat([key]);
  templateDataStorage.setItemCopy('buffers', keys.slice(-MAX_BUFFERS));
  keys.slice(0, -MAX_BUFFERS).forEach((oldest) => closeBuffer(oldest, now));
  return { open: null, retryAt: 0, isWaiting: false };
};

// The service counts a batch when its last event came: what waited for hours would be counted hours late.
const isLate = (settings, buffer, batch) =>
  settings.maxBatchAgeMs > 0 &&
  buffer.open &&
  buffer.retryAt === 0 &&
  batch.window_end_ms - buffer.open.window_start_ms > settings.maxBatchAgeMs + MAX_SLICE_MS;

// Reads, changes and writes the storage without a pause in between, so no other event comes in the middle.
const countEvent = (settings, containerId, event, tags, weight) => {
  const key = bufferKey(settings, containerId);
  const now = getTimestampMillis();
  const buffer = templateDataStorage.getItemCopy(key) || openBuffer(key, now);
  const batch = weighted(batchOf(event, tags), weight);
  const late = isLate(settings, buffer, batch) ? [sealOpen(buffer, now)] : [];
  buffer.open = buffer.open ? mergeInto(buffer.open, batch) : batch;
  // Where events are so rare, this one would wait as long for the next.
  const due = late.length > 0 ? late.concat([sealOpen(buffer, now)]) : takeDue(settings, key, buffer, now);
  templateDataStorage.setItemCopy(key, buffer);
  due.forEach((sent) => sendBatch(settings, containerId, key, sent));
};

// --- The tag ---

const settings = {
  tagId: data.gtmTagId,
  endpoint: trimmed(data.endpoint),
  ingestKey: trimmed(data.ingestKey),
  trackUserData: data.trackUserData === true,
  // A tag that was saved before there were these boxes has nothing here.
  trackConsent: data.trackConsent !== false,
  trackSignals: data.trackSignals !== false,
  isMarked: treatment() === 'mark',
  excluded: excludedIds(),
  nameKey: trimmed(data.tagNameKey) || 'name',
  sampleEvery: integerIn(data.sampleEvery, 1, MAX_WEIGHT, 1),
  batchSize: integerIn(data.batchSize, 1, 500, 50),
  maxBatchAgeMs: integerIn(data.maxBatchAgeSeconds, 0, 99999, 60) * 1000
};

// A form cannot check what a variable will hold, so it is checked here once more.
if (settings.endpoint.indexOf('https://') !== 0) {
  log(true, 'the ingest endpoint has to start with https://');
  data.gtmOnFailure();
  return;
}
if (settings.ingestKey === '') {
  log(true, 'the ingest key is missing');
  data.gtmOnFailure();
  return;
}

if (treatment() === 'skip') {
  data.gtmOnSuccess();
  return;
}

const event = readEvent(settings);
// A canary is waited for and is in no count, so it is never in a batch.
const isCanary = event.name.indexOf('tagwarden_canary_') === 0;
const report = data.sendMode === 'batched' && !isCanary ? countEvent : sendEvent;

addMessageListener(STATUS_MESSAGE, noteResponse);

addEventCallback((containerId, eventData) => {
  const tags = reportedTags(eventData.tags, settings.excluded, settings.nameKey);
  const weight = isCanary ? 1 : weightOf(settings, tags);
  if (weight > 0) report(settings, containerId || version.containerId, event, tags, weight);
});

// At once: the callback comes after all tags have ended, this one among them.
data.gtmOnSuccess();


___SERVER_PERMISSIONS___

[
  {
    "instance": {
      "key": {
        "publicId": "read_event_metadata",
        "versionId": "1"
      },
      "param": []
    },
    "isRequired": true
  },
  {
    "instance": {
      "key": {
        "publicId": "read_container_data",
        "versionId": "1"
      },
      "param": []
    },
    "isRequired": true
  },
  {
    "instance": {
      "key": {
        "publicId": "access_template_storage",
        "versionId": "1"
      },
      "param": []
    },
    "isRequired": true
  },
  {
    "instance": {
      "key": {
        "publicId": "read_event_data",
        "versionId": "1"
      },
      "param": [
        {
          "key": "keyPatterns",
          "value": {
            "type": 2,
            "listItem": [
              {
                "type": 1,
                "string": "event_name"
              },
              {
                "type": 1,
                "string": "user_data"
              },
              {
                "type": 1,
                "string": "email"
              },
              {
                "type": 1,
                "string": "phone"
              },
              {
                "type": 1,
                "string": "first_name"
              },
              {
                "type": 1,
                "string": "firstName"
              },
              {
                "type": 1,
                "string": "last_name"
              },
              {
                "type": 1,
                "string": "lastName"
              },
              {
                "type": 1,
                "string": "ecommerce"
              },
              {
                "type": 1,
                "string": "value"
              },
              {
                "type": 1,
                "string": "currency"
              },
              {
                "type": 1,
                "string": "transaction_id"
              },
              {
                "type": 1,
                "string": "items"
              },
              {
                "type": 1,
                "string": "consent_state"
              },
              {
                "type": 1,
                "string": "x-ga-gcs"
              },
              {
                "type": 1,
                "string": "x-ga-gcd"
              },
              {
                "type": 1,
                "string": "x-ga-dma"
              },
              {
                "type": 1,
                "string": "x-ga-npa"
              },
              {
                "type": 1,
                "string": "email_address"
              },
              {
                "type": 1,
                "string": "phone_number"
              },
              {
                "type": 1,
                "string": "FirstName"
              },
              {
                "type": 1,
                "string": "LastName"
              },
              {
                "type": 1,
                "string": "nameFirst"
              },
              {
                "type": 1,
                "string": "nameLast"
              },
              {
                "type": 1,
                "string": "city"
              },
              {
                "type": 1,
                "string": "country"
              },
              {
                "type": 1,
                "string": "event_id"
              },
              {
                "type": 1,
                "string": "client_id"
              },
              {
                "type": 1,
                "string": "fbp"
              },
              {
                "type": 1,
                "string": "_fbp"
              },
              {
                "type": 1,
                "string": "x-fb-ck-fbp"
              },
              {
                "type": 1,
                "string": "fbc"
              },
              {
                "type": 1,
                "string": "_fbc"
              },
              {
                "type": 1,
                "string": "x-fb-ck-fbc"
              },
              {
                "type": 1,
                "string": "common_cookie"
              },
              {
                "type": 1,
                "string": "ip_override"
              },
              {
                "type": 1,
                "string": "user_agent"
              },
              {
                "type": 1,
                "string": "page_location"
              },
              {
                "type": 1,
                "string": "gclid"
              },
              {
                "type": 1,
                "string": "gbraid"
              },
              {
                "type": 1,
                "string": "wbraid"
              },
              {
                "type": 1,
                "string": "dclid"
              },
              {
                "type": 1,
                "string": "fbclid"
              },
              {
                "type": 1,
                "string": "msclkid"
              },
              {
                "type": 1,
                "string": "ttclid"
              }
            ]
          }
        },
        {
          "key": "eventDataAccess",
          "value": {
            "type": 1,
            "string": "specific"
          }
        }
      ]
    },
    "clientAnnotations": {
      "isEditedByUser": true
    },
    "isRequired": true
  },
  {
    "instance": {
      "key": {
        "publicId": "use_message",
        "versionId": "1"
      },
      "param": [
        {
          "key": "allowedActions",
          "value": {
            "type": 1,
            "string": "specific"
          }
        },
        {
          "key": "messageTypes",
          "value": {
            "type": 2,
            "listItem": [
              {
                "type": 3,
                "mapKey": [
                  {
                    "type": 1,
                    "string": "type"
                  },
                  {
                    "type": 1,
                    "string": "action"
                  }
                ],
                "mapValue": [
                  {
                    "type": 1,
                    "string": "tagwarden_status"
                  },
                  {
                    "type": 1,
                    "string": "listen"
                  }
                ]
              }
            ]
          }
        }
      ]
    },
    "clientAnnotations": {
      "isEditedByUser": true
    },
    "isRequired": true
  },
  {
    "instance": {
      "key": {
        "publicId": "send_http",
        "versionId": "1"
      },
      "param": [
        {
          "key": "allowedUrls",
          "value": {
            "type": 1,
            "string": "any"
          }
        }
      ]
    },
    "clientAnnotations": {
      "isEditedByUser": true
    },
    "isRequired": true
  },
  {
    "instance": {
      "key": {
        "publicId": "logging",
        "versionId": "1"
      },
      "param": [
        {
          "key": "environments",
          "value": {
            "type": 1,
            "string": "all"
          }
        }
      ]
    },
    "clientAnnotations": {
      "isEditedByUser": true
    },
    "isRequired": true
  }
]


___TESTS___

scenarios:
- name: Posts the payload of an event
  code: |-
    fire([
      { id: 31, name: 'GA4', status: 'success', executionTime: 84 },
      { id: 42, name: 'Meta CAPI', status: 'timeout', executionTime: 0 }
    ]);
    assertThat(requests).hasLength(1);
    assertThat(requests[0].url).isEqualTo('https://monitor.example/ingest');
    assertThat(requests[0].options).isEqualTo({
      method: 'POST',
      headers: {
        'Content-Type': 'application/json', 'X-Service-Key': 'KEY', 'Idempotency-Key': '1795174917000-7-7'
      },
      timeout: 4500
    });
    assertThat(requests[0].payload).isEqualTo({
      container_id: 'GTM-ABC1234',
      event_name: 'purchase',
      timestamp_ms: 1795174917000,
      tags: [
        { id: '31', status: 'success', name: 'GA4', execution_time: 84 },
        { id: '42', status: 'timeout', name: 'Meta CAPI', execution_time: 0 }
      ],
      user_data: {
        has_email: true, has_phone: false, has_first_name: true, has_last_name: false, has_city: false, has_country: true
      },
      ecommerce: {
        has_value: true, has_currency: true, has_transaction_id: true, has_items: true, value_zero: false, value_invalid: false,
        currency_invalid: false, transaction_duplicate: false, items_empty: false
      },
      consent: {
        ad_storage: 'denied', analytics_storage: 'granted', ad_user_data: 'absent', ad_personalization: 'absent'
      },
      identifiers: {
        has_event_id: false, has_client_id: true, has_fbp: false, has_fbc: false, has_click_id: false, has_ip: false,
        has_user_agent: false
      }
    });
- name: Succeeds at once and reports after the tags
  code: |-
    runCode(settings);
    assertApi('gtmOnSuccess').wasCalled();
    assertApi('gtmOnFailure').wasNotCalled();
    assertThat(requests).hasLength(0);
    callback('GTM-ABC1234', { tags: [] });
    assertThat(requests[0].payload.tags).isEqualTo([]);
- name: Fails when the endpoint does not start with https
  code: |-
    settings.endpoint = 'http://monitor.example/ingest';
    runCode(settings);
    assertApi('gtmOnFailure').wasCalled();
    assertApi('gtmOnSuccess').wasNotCalled();
    assertApi('addEventCallback').wasNotCalled();
- name: Takes an endpoint with spaces around it
  code: |-
    settings.endpoint = ' https://monitor.example/ingest ';
    fire([]);
    assertThat(requests[0].url).isEqualTo('https://monitor.example/ingest');
- name: Fails when a variable gives no endpoint
  code: |-
    settings.endpoint = undefined;
    runCode(settings);
    assertApi('gtmOnFailure').wasCalled();
    assertApi('addEventCallback').wasNotCalled();
- name: Fails without an ingest key
  code: |-
    settings.ingestKey = '  ';
    runCode(settings);
    assertApi('gtmOnFailure').wasCalled();
    assertApi('addEventCallback').wasNotCalled();
- name: Leaves out the tags of the table and itself
  code: |-
    settings.excludeTagIds = [{ tagId: ' 42 ' }, { tagId: 43 }];
    settings.gtmTagId = 44;
    fire([tag(41), tag(42), tag(43), tag(44)]);
    assertThat(idsOf(requests[0])).isEqualTo(['41']);
    settings.gtmTagId = '41';
    fire([tag(41), tag(44)]);
    assertThat(idsOf(requests[1])).isEqualTo(['44']);
- name: Leaves out tags whose metadata says so
  code: |-
    fire([
      { id: 41, status: 'success' }, { id: 42, status: 'success', exclude: 'true' }, { id: 43, status: 'success', exclude: true },
      { id: 44, status: 'success', exclude: 'false' }, { id: 45, status: 'success', exclude: ' TRUE ' }
    ]);
    assertThat(idsOf(requests[0])).isEqualTo(['41', '44']);
- name: Says which version of the container it ran on
  code: |-
    version.version = '42';
    version.environmentName = 'Live';
    fire([]);
    batched(1);
    fire([]);
    requests.forEach((request) => {
      assertThat(request.payload.container).isEqualTo({ version: '42', environment: 'Live', clients: ['GA4'] });
    });
    version.previewMode = true;
    fire([]);
    assertThat(requests[2].payload.container).isUndefined();
- name: Names each client that claimed an event of a batch
  code: |-
    version.version = '42';
    batched(4);
    [' GA4 ', 'Data Client', 'GA4', undefined].forEach((name) => {
      clientName = name;
      fire([]);
    });
    assertThat(requests[0].payload.container.clients).isEqualTo(['GA4', 'Data Client']);
- name: Marks events of previews or does not send them
  code: |-
    settings.previewTraffic = 'mark';
    fire([]);
    assertThat(requests[0].payload.preview).isUndefined();
    version.previewMode = true;
    fire([]);
    assertThat(requests[1].payload.preview).isTrue();
    batched(50);
    fire([]);
    assertThat(requests[2].payload.preview).isTrue();
    settings.previewTraffic = 'count';
    fire([]);
    assertThat(requests[3].payload.preview).isUndefined();
    settings.previewTraffic = 'skip';
    runCode(settings);
    assertThat(requests).hasLength(4);
    assertApi('gtmOnFailure').wasNotCalled();
    assertApi('addEventCallback').wasCalled();
- name: Marks events of other environments or does not send them
  code: |-
    const sent = () => {
      requests = [];
      fire([]);
      return requests.map((request) => request.payload.preview === true);
    };
    version.version = '42';
    version.environmentName = ' Staging ';
    assertThat(sent()).isEqualTo([false]);
    settings.otherEnvironments = 'mark';
    assertThat(sent()).isEqualTo([true]);
    assertThat(requests[0].payload.container.environment).isEqualTo('Staging');
    batched(1);
    assertThat(sent()).isEqualTo([true]);
    assertThat(requests[0].payload.container.environment).isEqualTo('Staging');
    settings.liveEnvironment = 'staging';
    assertThat(sent()).isEqualTo([false]);
    settings.liveEnvironment = ' ';
    ['Live', ' live', '', undefined].forEach((name) => {
      version.environmentName = name;
      assertThat(sent()).isEqualTo([false]);
    });
    version.environmentName = 'Staging';
    settings.otherEnvironments = 'skip';
    callback = () => undefined;
    assertThat(sent()).isEqualTo([]);
    assertApi('gtmOnFailure').wasNotCalled();
- name: Treats a page of Googles scanner as a preview
  code: |-
    event = { event_name: 'page_view', page_location: 'https://gtm-msr.appspot.com/render2?id=GTM-ABC1234' };
    fire([]);
    assertThat(requests[0].payload.preview).isUndefined();
    settings.previewTraffic = 'mark';
    fire([]);
    assertThat(requests[1].payload.preview).isTrue();
    settings.previewTraffic = 'skip';
    runCode(settings);
    assertThat(requests).hasLength(2);
    event = { event_name: 'page_view', page_location: 'https://shop.example/?from=https://gtm-msr.appspot.com/' };
    fire([]);
    assertThat(requests).hasLength(3);
- name: Treats the preview of another environment as a preview
  code: |-
    version.environmentName = 'Staging';
    version.previewMode = true;
    settings.otherEnvironments = 'skip';
    settings.previewTraffic = 'count';
    fire([]);
    assertThat(requests[0].payload.preview).isUndefined();
    settings.previewTraffic = 'mark';
    fire([]);
    assertThat(requests[1].payload.preview).isTrue();
- name: Reports how vendors answered where their tags say it
  code: |-
    const answeredWith = (messages) => {
      requests = [];
      runCode(settings);
      messages.forEach((message) => listener('tagwarden_status', message));
      callback('GTM-ABC1234', { tags: [{ id: 42, name: 'Meta CAPI', status: 'success' }, tag(43)] });
      return requests[0].payload.tags.map((reported) => reported.response);
    };
    [
      [[], []], [['2xx'], [{ tag: 42, status: 2 }]], [['4xx'], [{ tag: '42', status: 400 }]], [['5xx'], [{ tag: 'Meta CAPI', status: 503 }]],
      [['none'], [{ tag: ' 42 ', status: 0 }]], [['3xx'], [{ tag: 42, status: '302' }]],
      [['5xx'], [{ tag: 42, status: 200 }, { tag: 42, status: 500 }, { tag: 42, status: 404 }]],
      [['4xx'], [{ tag: 42, status: 404 }, { tag: 'Meta CAPI', status: 200 }]],
      [[], [{ tag: 44, status: 400 }, { tag: 'constructor', status: 400 }, { status: 400 }]],
      [[], [undefined, 'text', [], { tag: 42 }, { tag: 42, status: 'gone' }, { tag: 42, status: 99 }, { tag: 42, status: 600 }]],
      [[], [{ tag: 42, status: {} }, { tag: 42, status: null }, { tag: 42, status: -200 }, { tag: 42, status: 0 / 0 }]]
    ].forEach((row) => {
      assertThat(answeredWith(row[1]), JSON.stringify(row[1])).isEqualTo([row[0][0], undefined]);
    });
- name: Counts how vendors answered in batches
  code: |-
    batched(2);
    [400, 200].forEach((status) => {
      runCode(settings);
      listener('tagwarden_status', { tag: 42, status: status });
      callback('GTM-ABC1234', { tags: [tag(42), tag(43)] });
    });
    const metrics = requests[0].payload.tag_metrics;
    assertThat([metrics.tag_42.response_4xx, metrics.tag_42.response_2xx, metrics.tag_42.count]).isEqualTo([1, 1, 2]);
    assertThat(metrics.tag_43.response_2xx).isUndefined();
- name: Takes no more answers than an event has tags
  code: |-
    runCode(settings);
    for (let id = 0; id < 501; id++) listener('tagwarden_status', { tag: id, status: 500 });
    callback('GTM-ABC1234', { tags: [tag(499), tag(500)] });
    assertThat(requests[0].payload.tags.map((reported) => reported.response)).isEqualTo(['5xx', undefined]);
- name: Reports itself where the container does not say which tag it is
  code: |-
    settings.excludeTagIds = undefined;
    fire([tag(41), tag(44)]);
    assertThat(idsOf(requests[0])).isEqualTo(['41', '44']);
- name: Sends a name only where there is one
  code: |-
    settings.tagNameKey = 'tag name';
    fire([
      { id: 1, status: 'success', 'tag name': 'Named' },
      { id: 2, status: 'success', name: 'Under another key' },
      { id: 3, status: 'success', 'tag name': ' ' },
      { id: 4, status: 'success', 'tag name': textOf(300) }
    ]);
    const names = requests[0].payload.tags.map((reported) => reported.name);
    assertThat(names).isEqualTo(['Named', undefined, undefined, textOf(256)]);
- name: Takes the key name when the setting is empty
  code: |-
    settings.tagNameKey = '';
    fire([{ id: 1, status: 'success', name: 'Named' }]);
    assertThat(requests[0].payload.tags[0].name).isEqualTo('Named');
- name: Counts an unknown status as a failure
  code: |-
    fire(['success', 'failure', 'timeout', 'exception', 'aborted', undefined].map((status) => ({ id: 1, status: status })));
    const statuses = requests[0].payload.tags.map((reported) => reported.status);
    assertThat(statuses).isEqualTo(['success', 'failure', 'timeout', 'exception', 'failure', 'failure']);
- name: Leaves out a time that is none
  code: |-
    fire([0, 17, -1, undefined, 'soon'].map((time) => ({ id: 1, status: 'success', executionTime: time })));
    const times = requests[0].payload.tags.map((reported) => reported.execution_time);
    assertThat(times).isEqualTo([0, 17, undefined, undefined, undefined]);
- name: Reports at most 500 tags
  code: |-
    const tags = [];
    for (let id = 1; id <= 501; id++) tags.push(tag(id));
    fire(tags);
    assertThat(requests[0].payload.tags).hasLength(500);
- name: Cuts and replaces names and ids that the service would refuse
  code: |-
    event.event_name = textOf(300);
    fire([{ id: textOf(70), status: 'success' }, { id: '', status: 'success' }]);
    assertThat(requests[0].payload.event_name).isEqualTo(textOf(256));
    assertThat(idsOf(requests[0])).isEqualTo([textOf(64), 'unknown']);
    event.event_name = undefined;
    fire([]);
    assertThat(requests[1].payload.event_name).isEqualTo('unknown');
- name: Hides the name of an event that holds an e-mail address
  code: |-
    version.previewMode = true;
    ['Newsletter ada@example.com', 'https://shop.example/?user=ada%40example.com'].forEach((name) => {
      event.event_name = name;
      fire([]);
      batched(1);
    });
    assertThat(requests[0].payload.event_name).isEqualTo('(hidden)');
    assertThat(requests[1].payload.event_counts).isEqualTo({ '(hidden)': 1 });
    assertThat(logs[0]).isEqualTo('Tagwarden: (hidden) with 0 tags: answered 200');
- name: Falls back to the container id of the version and takes an event without tags
  code: |-
    runCode(settings);
    callback(undefined, {});
    assertThat(requests[0].payload.container_id).isEqualTo('GTM-VERSION');
    assertThat(requests[0].payload.tags).isEqualTo([]);
- name: Reports no user data when that is switched off
  code: |-
    settings.trackUserData = false;
    fire([]);
    assertThat(requests[0].payload.user_data).isUndefined();
    assertThat(requests[0].payload.ecommerce).isDefined();
- name: Reports e-commerce data for every commerce event
  code: |-
    [
      'add_payment_info', 'add_shipping_info', 'add_to_cart', 'add_to_wishlist', 'begin_checkout', 'purchase', 'refund',
      'remove_from_cart', 'select_item', 'select_promotion', 'view_cart', 'view_item', 'view_item_list', 'view_promotion'
    ].forEach((name) => {
      event = { event_name: name };
      requests = [];
      fire([]);
      assertThat(requests[0].payload.ecommerce, name).isDefined();
    });
- name: Reports no e-commerce data for other events
  code: |-
    event.event_name = 'generate_lead';
    fire([]);
    assertThat(requests[0].payload.ecommerce).isUndefined();
    assertThat(requests[0].payload.user_data).isDefined();
- name: Finds user data wherever clients put it
  code: |-
    const users = (userData) => ({ event_name: 'page_view', user_data: userData });
    const found = [
      ['has_email', users({ email_address: 'a' })],
      ['has_email', users({ email: 'a' })],
      ['has_email', users({ email: ['', 'a'] })],
      ['has_email', users({ email: { value: 'a' } })],
      ['has_email', users({ sha256_email_address: ['a'] })],
      ['has_email', users({ sha256_email: 'a' })],
      ['has_email', { email: 'a' }],
      ['has_email', { email_address: 'a' }],
      ['has_phone', users({ phone_number: '1' })],
      ['has_phone', users({ phone: 1 })],
      ['has_phone', users({ sha256_phone_number: 'a' })],
      ['has_phone', { phone: '1' }],
      ['has_phone', { phone_number: '1' }],
      ['has_first_name', users({ address: { first_name: 'a' } })],
      ['has_first_name', users({ address: [{ sha256_first_name: 'a' }] })],
      ['has_first_name', users({ first_name: 'a' })],
      ['has_first_name', { first_name: 'a' }],
      ['has_first_name', { firstName: 'a' }],
      ['has_first_name', { FirstName: 'a' }],
      ['has_first_name', { nameFirst: 'a' }],
      ['has_first_name', users({ nameFirst: 'a' })],
      ['has_first_name', users({ address: { nameFirst: 'a' } })],
      ['has_last_name', users({ address: { last_name: 'a' } })],
      ['has_last_name', users({ address: [{}, { sha256_last_name: 'a' }] })],
      ['has_last_name', { last_name: 'a' }],
      ['has_last_name', { lastName: 'a' }],
      ['has_last_name', { LastName: 'a' }],
      ['has_last_name', { nameLast: 'a' }],
      ['has_last_name', users({ nameLast: 'a' })],
      ['has_last_name', users({ address: [{ nameLast: 'a' }] })],
      ['has_city', { city: 'a' }],
      ['has_country', { country: 'a' }],
      ['has_city', users({ address: [{ city: 'a' }] })],
      ['has_city', users({ city: 'a' })],
      ['has_country', users({ address: { country: 'a' } })],
      ['has_country', users({ country: 'a' })]
    ];
    found.forEach((row) => {
      event = row[1];
      requests = [];
      fire([]);
      const flags = requests[0].payload.user_data;
      const raised = Object.keys(flags).filter((flag) => flags[flag]);
      assertThat(raised, JSON.stringify(row)).isEqualTo([row[0]]);
    });
- name: Takes nothing for something
  code: |-
    settings.trackSignals = false;
    [
      '', '  ', null, undefined, false, [], [''], {}, { value: '' }, 0 / 0,
      'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
      ['47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='], 'undefined', ' null',
      'eb045d78d273107348b0300c01d29b7552d622abbc6faf81b3ec55359aa9950c', ['dCNOmK/nSY+12vHzasLXiswzlGT5UHA7jAGYkvmCuQs='],
      'Undefined', 'NULL', 'E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855'
    ].forEach((nothing) => {
      event = {
        event_name: 'purchase', value: nothing, currency: nothing, transaction_id: nothing, items: nothing,
        ecommerce: nothing, email: nothing,
        user_data: {
          email_address: nothing, phone_number: nothing,
          address: [{ first_name: nothing, last_name: nothing, city: nothing, country: nothing }]
        }
      };
      requests = [];
      fire([]);
      // A list with an empty text in it is a list of one item all the same.
      const flags = [requests[0].payload.user_data, requests[0].payload.ecommerce];
      const hasItem = JSON.stringify(flags).indexOf('"has_items":true') !== -1;
      assertThat(hasItem).isEqualTo(!!nothing && nothing.length === 1);
      assertThat(JSON.stringify(flags).split('true')).hasLength(hasItem ? 2 : 1);
    });
- name: Reports user data that has no form as absent
  code: |-
    event.user_data = 'text';
    fire([]);
    assertThat(requests[0].payload.user_data.has_email).isFalse();
- name: Takes a value of 0 and looks under ecommerce too
  code: |-
    settings.trackSignals = false;
    event = { event_name: 'add_to_cart', value: 0 };
    fire([]);
    assertThat(requests[0].payload.identifiers).isUndefined();
    assertThat(requests[0].payload.ecommerce).isEqualTo({
      has_value: true, has_currency: false, has_transaction_id: false, has_items: false
    });
    event = { event_name: 'refund', ecommerce: { value: '12', currency: 'EUR', transaction_id: 7, items: [{}] } };
    fire([]);
    assertThat(requests[1].payload.ecommerce).isEqualTo({
      has_value: true, has_currency: true, has_transaction_id: true, has_items: true
    });
- name: Reports no consent when that is switched off
  code: |-
    settings.trackConsent = false;
    fire([]);
    assertThat(requests[0].payload.consent).isUndefined();
    batched(1);
    fire([tag(1)]);
    assertThat(requests[1].payload.consent).isUndefined();
    assertThat(requests[1].payload.tag_metrics.tag_1.consent_total).isUndefined();
- name: Knows the classes of every letter of gcd
  code: |-
    const classes = {
      l: 'absent', m: 'denied', n: 'granted', p: 'denied', q: 'denied', r: 'granted', t: 'granted', u: 'denied', v: 'granted'
    };
    Object.keys(classes).forEach((letter) => {
      event = { event_name: 'page_view', 'x-ga-gcd': '13' + letter + '3l3l3l1l1' };
      requests = [];
      fire([]);
      const consent = requests[0].payload.consent;
      assertThat(consent.ad_storage, letter).isEqualTo(classes[letter]);
      assertThat(consent.analytics_storage, letter).isEqualTo('absent');
      const updated = letter === 'l' ? undefined : letter !== 'p' && letter !== 't';
      assertThat(consent.updated, letter).isEqualTo(updated);
    });
    event = { event_name: 'page_view', 'x-ga-gcd': '13r3q1t1p5l1' };
    requests = [];
    fire([]);
    assertThat(requests[0].payload.consent).isEqualTo({
      ad_storage: 'granted', analytics_storage: 'denied', ad_user_data: 'granted', ad_personalization: 'denied', updated: true
    });
- name: Knows the classes of gcs
  code: |-
    [
      ['G111', 'granted', 'granted'], ['G110', 'granted', 'denied'], ['G101', 'denied', 'granted'],
      ['G100', 'denied', 'denied'], ['G1--', 'absent', 'absent'], ['G1', 'absent', 'absent'], ['', 'absent', 'absent'],
      [111, 'absent', 'absent']
    ].forEach((row) => {
      event = { event_name: 'page_view', 'x-ga-gcs': row[0] };
      requests = [];
      fire([]);
      assertThat(requests[0].payload.consent).isEqualTo({
        ad_storage: row[1], analytics_storage: row[2], ad_user_data: 'absent', ad_personalization: 'absent'
      });
    });
- name: Takes consent_state first and what it lacks from the signals of Google
  code: |-
    event = {
      event_name: 'page_view', consent_state: { ad_storage: false, analytics_storage: 'granted' },
      'x-ga-gcd': '13v3u3v3l1l1', 'x-ga-gcs': 'G111', 'x-ga-npa': '1', 'x-ga-dma': '1'
    };
    fire([]);
    assertThat(requests[0].payload.consent).isEqualTo({
      ad_storage: 'denied', analytics_storage: 'granted', ad_user_data: 'granted', ad_personalization: 'denied',
      updated: true, dma: true
    });
    event = { event_name: 'page_view', consent_state: 'granted', 'x-ga-gcd': 13, 'x-ga-npa': '0', 'x-ga-dma': '0' };
    fire([]);
    assertThat(requests[1].payload.consent).isEqualTo({
      ad_storage: 'absent', analytics_storage: 'absent', ad_user_data: 'absent', ad_personalization: 'absent', dma: false
    });
- name: Counts personalisation as denied where the site asks for ads without it
  code: |-
    ['1', 1].forEach((npa) => {
      event = { event_name: 'page_view', consent_state: { ad_personalization: true }, 'x-ga-gcd': '13v3v3v3v5l1', 'x-ga-npa': npa };
      requests = [];
      fire([]);
      assertThat(requests[0].payload.consent).isEqualTo({
        ad_storage: 'granted', analytics_storage: 'granted', ad_user_data: 'granted', ad_personalization: 'denied',
        updated: true
      });
    });
    ['0', '', 0].forEach((npa) => {
      event = { event_name: 'page_view', 'x-ga-gcd': '13v3v3v3v5l1', 'x-ga-npa': npa };
      requests = [];
      fire([]);
      assertThat(requests[0].payload.consent.ad_personalization).isEqualTo('granted');
    });
- name: Batched counts the classes of consent and the tags that ran while it was denied
  code: |-
    batched(3);
    event = { event_name: 'page_view', 'x-ga-gcd': '13p3p3p3p1l1', 'x-ga-dma': '1' };
    fire([tag(1), tag(2)]);
    event = { event_name: 'page_view', 'x-ga-gcd': '13r3r3r3q1l1' };
    fire([tag(1)]);
    event = { event_name: 'page_view' };
    fire([tag(1)]);
    assertThat(requests[0].payload.consent).isEqualTo({
      total: 3, update_known: 2, never_updated: 1, dma: 1, ad_storage_granted: 1, ad_storage_denied: 1,
      analytics_storage_granted: 1, analytics_storage_denied: 1, ad_user_data_granted: 1, ad_user_data_denied: 1,
      ad_personalization_granted: 0, ad_personalization_denied: 2
    });
    const metrics = requests[0].payload.tag_metrics;
    assertThat([metrics.tag_1.consent_total, metrics.tag_1.ad_storage_denied]).isEqualTo([3, 1]);
    assertThat([metrics.tag_2.consent_total, metrics.tag_2.analytics_storage_denied]).isEqualTo([1, 1]);
- name: Finds identifiers wherever clients put them
  code: |-
    [
      ['has_event_id', { event_id: 'e' }], ['has_client_id', { client_id: 'c' }], ['has_fbp', { fbp: 'fb.1' }],
      ['has_fbp', { _fbp: 'fb.1' }], ['has_fbp', { 'x-fb-ck-fbp': 'fb.1' }], ['has_fbp', { common_cookie: { _fbp: 'fb.1' } }],
      ['has_fbc', { fbc: 'fb.1' }], ['has_fbc', { common_cookie: { _fbc: 'fb.1' } }], ['has_click_id', { gclid: 'g' }],
      ['has_click_id', { page_location: 'https://shop.example/?a=1&wbraid=g' }],
      ['has_click_id', { page_location: 'https://shop.example/?ttclid=g' }], ['has_ip', { ip_override: '192.0.2.1' }],
      ['has_user_agent', { user_agent: 'Mozilla' }], [undefined, { page_location: 'https://shop.example/gclid=?no=1' }],
      [undefined, { page_location: 'https://shop.example/?gclid=&fbclid=' }],
      [undefined, { page_location: 'https://shop.example/?gclid=undefined&fbclid=null' }]
    ].forEach((row) => {
      event = row[1];
      requests = [];
      fire([]);
      const flags = requests[0].payload.identifiers;
      assertThat(Object.keys(flags).filter((flag) => flags[flag])[0], JSON.stringify(row)).isEqualTo(row[0]);
    });
- name: Says of values whether they can be used
  code: |-
    const fine = { value: 9.5, currency: 'EUR', items: [{}] };
    [
      [[], fine], [[], { value: '9.50', currency: 'usd', items: [{}] }], [[], {}], [['value_zero'], { value: 0 }],
      [['value_zero'], { value: '0.00' }], [['value_invalid'], { value: '9,50 EUR' }], [['value_invalid'], { value: 'NaN' }],
      [['currency_invalid'], { currency: 'EURO' }], [['currency_invalid'], { currency: 'D B' }],
      [['currency_invalid'], { currency: 'XYZ' }], [['currency_invalid'], { currency: 'BGN' }], [[], { currency: 'XCG' }],
      [['items_empty'], { items: [] }], [['items_empty'], { ecommerce: { items: [] } }],
      [[], { items: [], ecommerce: { items: [{}] } }]
    ].forEach((row) => {
      event = { event_name: 'add_to_cart' };
      Object.keys(row[1]).forEach((name) => {
        event[name] = row[1][name];
      });
      requests = [];
      fire([]);
      const flags = requests[0].payload.ecommerce;
      const faults = Object.keys(flags).filter((flag) => flags[flag] && flag.indexOf('has_') !== 0);
      assertThat(faults, JSON.stringify(row)).isEqualTo(row[0]);
    });
- name: Knows a purchase that came before by its transaction
  code: |-
    const isDuplicate = (name, id) => {
      event = { event_name: name, transaction_id: id };
      requests = [];
      fire([]);
      return requests[0].payload.ecommerce.transaction_duplicate;
    };
    assertThat(isDuplicate('purchase', 'T1')).isFalse();
    assertThat(isDuplicate('purchase', 'T2')).isFalse();
    assertThat(isDuplicate('purchase', ' T1')).isTrue();
    assertThat(isDuplicate('refund', 'T1')).isFalse();
    assertThat(isDuplicate('purchase', undefined)).isFalse();
    for (let id = 0; id < 500; id++) isDuplicate('purchase', 'N' + id);
    assertThat(isDuplicate('purchase', 'N0')).isTrue();
    assertThat(isDuplicate('purchase', 'T1')).isFalse();
    assertThat(JSON.stringify(stored)).doesNotContain('N499');
    clientName = 'Data Client';
    assertThat(isDuplicate('purchase', 'N499')).isFalse();
    assertThat(isDuplicate('purchase', 'N499')).isTrue();
    settings.gtmTagId = 5;
    assertThat(isDuplicate('purchase', 'N0')).isFalse();
    const lists = Object.keys(stored).length;
    for (let id = 0; id < 3; id++) {
      settings.ingestKey = 'KEY ' + id;
      assertThat(isDuplicate('purchase', 'N0')).isFalse();
      assertThat(isDuplicate('purchase', 'N0')).isTrue();
    }
    assertThat(Object.keys(stored)).hasLength(lists);
- name: Sends nothing of what the fields hold
  code: |-
    fire([tag(1)]);
    settings.sendMode = 'batched';
    settings.batchSize = 1;
    fire([tag(1)]);
    const sent = JSON.stringify(requests);
    ['ada@example.com', 'Ada', 'T-1001', 'EUR', '99.5', 'G101', 'c.1'].forEach((content) => {
      assertThat(sent).doesNotContain(content);
    });
- name: Batched sends the counters when the batch is full
  code: |-
    batched(3);
    fire([
      { id: 31, name: 'GA4', status: 'success', executionTime: 80 },
      { id: 32, name: 'GA4', status: 'failure', executionTime: 5 },
      { id: 42, status: 'timeout' }
    ]);
    event = { event_name: 'page_view' };
    now = now + 1000;
    fire([{ id: 31, name: 'GA4', status: 'success', executionTime: 40 }]);
    assertThat(requests).hasLength(0);
    now = now + 1000;
    fire([{ id: 42, status: 'exception', executionTime: 9 }]);
    assertThat(requests).hasLength(1);
    assertThat(requests[0].options.timeout).isEqualTo(4500);
    assertThat(requests[0].options.headers['X-Service-Key']).isEqualTo('KEY');
    assertThat(requests[0].options.headers['Idempotency-Key']).isEqualTo('1795174919000-7-7');
    assertThat(requests[0].payload).isEqualTo({
      container_id: 'GTM-ABC1234',
      batch: true,
      window_start_ms: 1795174917000,
      window_end_ms: 1795174919000,
      total_events: 3,
      event_counts: { purchase: 1, page_view: 2 },
      tag_metrics: {
        GA4: {
          success: 2, failure: 1, timeout: 0, exception: 0, total_exec_ms: 125, count: 3,
          consent_total: 3, ad_storage_denied: 2, analytics_storage_denied: 0
        },
        tag_42: {
          success: 0, failure: 0, timeout: 1, exception: 1, total_exec_ms: 9, count: 2,
          consent_total: 2, ad_storage_denied: 1, analytics_storage_denied: 0
        }
      },
      user_data_quality: { email: 1, phone: 0, address: 1, total: 3 },
      ecommerce_quality: {
        value: 1, currency: 1, transaction_id: 1, items: 1, total: 1, validity_total: 1, value_zero: 0, value_invalid: 0,
        currency_invalid: 0, transaction_duplicate: 0, items_empty: 0
      },
      identifiers: { total: 3, event_id: 0, client_id: 1, fbp: 0, fbc: 0, click_id: 0, ip: 0, user_agent: 0 },
      consent: {
        total: 3, update_known: 0, never_updated: 0, dma: 0, ad_storage_granted: 0, ad_storage_denied: 1,
        analytics_storage_granted: 1, analytics_storage_denied: 0, ad_user_data_granted: 0, ad_user_data_denied: 0,
        ad_personalization_granted: 0, ad_personalization_denied: 0
      }
    });
    fire([]);
    assertThat(requests).hasLength(1);
- name: Batched reports no user data when that is switched off
  code: |-
    batched(1);
    settings.trackUserData = false;
    fire([]);
    assertThat(requests[0].payload.user_data_quality).isUndefined();
- name: Batched sends an old batch with the next event
  code: |-
    batched(50);
    settings.maxBatchAgeSeconds = '90';
    fire([]);
    now = now + 89999;
    fire([]);
    assertThat(requests).hasLength(0);
    now = now + 1;
    fire([]);
    assertThat(requests[0].payload.total_events).isEqualTo(3);
- name: Batched sends apart what waited for hours and the event that came then
  code: |-
    batched(50);
    settings.maxBatchAgeSeconds = '90';
    fire([]);
    fire([]);
    now = now + 390000;
    fire([]);
    assertThat(requests).hasLength(1);
    fire([]);
    now = now + 390001;
    fire([]);
    assertThat(requests).hasLength(3);
    assertThat(requests[1].payload.window_end_ms).isEqualTo(now - 390001);
    assertThat(requests[2].payload.window_start_ms).isEqualTo(now);
    assertThat(requests[2].payload.total_events).isEqualTo(1);
- name: Batched sends after a minute when nothing is typed
  code: |-
    batched(50);
    settings.maxBatchAgeSeconds = '';
    fire([]);
    now = now + 59999;
    fire([]);
    assertThat(requests).hasLength(0);
    now = now + 1;
    fire([]);
    assertThat(requests).hasLength(1);
- name: Batched waits for a full batch when the age is 0
  code: |-
    batched(2);
    settings.maxBatchAgeSeconds = 0;
    fire([]);
    now = now + 86400000;
    fire([]);
    assertThat(requests).hasLength(1);
- name: Batched keeps the size between 1 and 500 and takes 50 for none
  code: |-
    settings.maxBatchAgeSeconds = 0;
    [[0, 1], [-3, 1], [501, 500], ['7', 7], ['', 50], [undefined, 50], [null, 50], ['many', 50]].forEach((row) => {
      batched(row[0]);
      settings.ingestKey = 'KEY ' + row[0] + row[1];
      requests = [];
      for (let fired = 1; fired < row[1]; fired++) fire([]);
      assertThat(requests).hasLength(0);
      fire([]);
      assertThat(requests[0].payload.total_events).isEqualTo(row[1]);
    });
- name: Batched takes events in any order of time
  code: |-
    batched(2);
    fire([]);
    now = now - 500;
    fire([]);
    assertThat(requests[0].payload.window_start_ms).isEqualTo(1795174916500);
    assertThat(requests[0].payload.window_end_ms).isEqualTo(1795174917000);
- name: Batched sends every event of a preview at once
  code: |-
    batched(50);
    version.previewMode = true;
    fire([]);
    version.previewMode = false;
    version.debugMode = true;
    fire([]);
    assertThat(requests).hasLength(2);
    assertThat(requests[1].payload.total_events).isEqualTo(1);
- name: Batched sends a canary at once and counts it in no batch
  code: |-
    batched(2);
    fire([{ id: 31, status: 'success', executionTime: 80 }]);
    event = { event_name: 'tagwarden_canary_0123456789abcdef0123' };
    fire([{ id: 31, status: 'success', executionTime: 40 }]);
    assertThat(requests).hasLength(1);
    assertThat(requests[0].payload.event_name).isEqualTo('tagwarden_canary_0123456789abcdef0123');
    event = { event_name: 'page_view' };
    fire([{ id: 31, status: 'success', executionTime: 80 }]);
    assertThat(requests).hasLength(2);
    assertThat(requests[1].payload.total_events).isEqualTo(2);
    assertThat(requests[1].payload.tag_metrics.tag_31.count).isEqualTo(2);
- name: Batched never mixes the counts of tags that are set differently
  code: |-
    [['ingestKey', 'OTHER'], ['endpoint', 'https://other.example/ingest'], ['gtmTagId', 5]].forEach((row) => {
      stored = {};
      requests = [];
      const other = { gtmTagId: 4 };
      Object.keys(settings).forEach((key) => {
        other[key] = settings[key];
      });
      other[row[0]] = row[1];
      [settings, other].forEach((tagSettings) => {
        tagSettings.sendMode = 'batched';
        tagSettings.batchSize = 2;
        runCode(tagSettings);
        callback('GTM-ABC1234', { tags: [] });
      });
      assertThat(requests).hasLength(0);
    });
- name: Batched counts together what differs only in when it is sent
  code: |-
    batched(3);
    fire([]);
    settings.batchSize = 2;
    settings.sampleEvery = '{{resolved to nothing}}';
    fire([]);
    assertThat(requests).hasLength(1);
    assertThat(requests[0].payload.total_events).isEqualTo(2);
- name: Batched sends the oldest of too many buffers and keeps none that fails
  code: |-
    batched(50);
    const fireAt = (place) => {
      settings.endpoint = 'https://monitor.example/' + place;
      fire([]);
    };
    for (let place = 0; place < 100; place++) fireAt(place);
    fireAt(5);
    assertThat(requests).hasLength(0);
    fireAt(100);
    assertThat(requests).hasLength(1);
    assertThat(requests[0].url).isEqualTo('https://monitor.example/0');
    assertThat(requests[0].payload.total_events).isEqualTo(1);
    const held = () => Object.keys(stored).filter((key) => stored[key] !== null).length;
    const before = held();
    settings.logMode = 'failures';
    answers = [answered(500), answered(500)];
    fireAt(101);
    fireAt(102);
    assertThat(requests).hasLength(3);
    assertThat(held()).isEqualTo(before);
    assertThat(logs.filter((text) => text === 'Tagwarden: dropped 1 event that could not be sent')).hasLength(2);
    for (let place = 103; place < 106; place++) fireAt(place);
    assertThat(requests[5].url).isEqualTo('https://monitor.example/5');
    assertThat(requests[5].payload.total_events).isEqualTo(2);
- name: Batched repeats a batch as it was after a pause
  code: |-
    batched(1);
    answers = [answered(500), rejected('timed_out'), answered(200)];
    fire([]);
    now = now + 29999;
    fire([]);
    assertThat(requests).hasLength(1);
    now = now + 1;
    fire([]);
    assertThat(requests).hasLength(2);
    now = now + 30000;
    fire([]);
    assertThat(requests).hasLength(3);
    [1, 2].forEach((at) => {
      assertThat(requests[at].payload).isEqualTo(requests[0].payload);
      assertThat(requests[at].options.headers).isEqualTo(requests[0].options.headers);
    });
    fire([]);
    assertThat(requests).hasLength(4);
    assertThat(requests[3].payload.total_events).isEqualTo(4);
- name: Batched never adds what may have been counted to other counts
  code: |-
    batched(1);
    answers = [503, 408, 429, 500, 301, 429].map(answered);
    fire([]);
    for (let tries = 0; tries < 5; tries++) {
      now = now + 30000;
      fire([]);
    }
    assertThat(requests).hasLength(6);
    requests.forEach((request) => {
      assertThat(request.payload.total_events).isEqualTo(1);
      assertThat(request.options.headers['Idempotency-Key']).isEqualTo('1795174917000-7-7');
    });
- name: Batched puts back what was certainly not counted
  code: |-
    batched(1);
    answers = [answered(429), answered(200)];
    fire([]);
    now = now + 30000;
    fire([]);
    assertThat(requests).hasLength(2);
    assertThat(requests[1].payload.total_events).isEqualTo(2);
    assertThat(requests[1].payload.window_start_ms).isEqualTo(1795174917000);
- name: Batched tries one batch at a time until the endpoint answers and then sends ten at once
  code: |-
    batched(1);
    pending = [];
    for (let fired = 0; fired < 12; fired++) {
      now = now + 1;
      fire([]);
    }
    assertThat(requests).hasLength(12);
    pending.forEach((settle) => settle.onFailure({ reason: 'failed' }));
    pending = null;
    answers = [answered(500)];
    now = now + 30000;
    fire([]);
    assertThat(requests).hasLength(13);
    now = now + 30000;
    fire([]);
    assertThat(requests).hasLength(14);
    assertThat(requests[13].payload).isNotEqualTo(requests[12].payload);
    fire([]);
    assertThat(requests).hasLength(24);
    fire([]);
    assertThat(requests).hasLength(27);
    assertThat(requests.slice(13).reduce((sum, request) => sum + request.payload.total_events, 0)).isEqualTo(16);
- name: Batched drops what could not be sent for an hour slice by slice
  code: |-
    batched(1);
    settings.logMode = 'failures';
    for (let minute = 0; minute < 62; minute++) {
      answers = [answered(500)];
      fire([]);
      now = now + 60000;
    }
    answers = [];
    const before = requests.length;
    fire([]);
    fire([]);
    fire([]);
    const sent = requests.slice(before).reduce((sum, request) => sum + request.payload.total_events, 0);
    assertThat(sent).isEqualTo(64);
    const dropped = logs.filter((text) => text === 'Tagwarden: dropped 1 event that could not be sent');
    assertThat(dropped).hasLength(1);
- name: Batched goes on after an event during which the instance was suspended for hours
  code: |-
    batched(1);
    answers = [answered(500)];
    fire([]);
    runCode(settings);
    now = now + 7200000;
    callback('GTM-ABC1234', { tags: [] });
    fire([]);
    assertThat(requests).hasLength(2);
    assertThat(requests[1].payload.total_events).isEqualTo(1);
- name: Batched goes on after a pause that a wrong clock began
  code: |-
    batched(1);
    answers = [answered(500)];
    now = now + 86400000;
    fire([]);
    now = now - 86400000;
    fire([]);
    assertThat(requests).hasLength(2);
- name: Batched does not repeat what is refused for good
  code: |-
    batched(1);
    [[400, false], [401, false], [403, false], [413, false], [408, true], [500, true], [301, true]].forEach((row) => {
      stored = {};
      requests = [];
      answers = [answered(row[0])];
      fire([]);
      now = now + 30000;
      fire([]);
      assertThat(requests).hasLength(2);
      const keys = requests.map((request) => request.options.headers['Idempotency-Key']);
      assertThat(keys[0] === keys[1], 'repeated after ' + row[0]).isEqualTo(row[1]);
    });
- name: Batched counts names without end together
  code: |-
    batched(500);
    event = { event_name: 'hasOwnProperty' };
    fire([]);
    event = { event_name: 'constructor' };
    fire([{ id: 1, name: 'toString', status: 'success' }]);
    for (let fired = 2; fired < 499; fired++) {
      event = { event_name: 'event ' + fired };
      fire([]);
    }
    event = { event_name: 'one more' };
    fire([]);
    const counts = requests[0].payload.event_counts;
    assertThat(Object.keys(counts)).hasLength(500);
    assertThat(counts['(other)']).isEqualTo(1);
    assertThat(Object.keys(counts).slice(0, 2)).isEqualTo(['hasOwnProperty', 'constructor']);
    assertThat(Object.keys(requests[0].payload.tag_metrics)).isEqualTo(['toString']);
- name: Sends one event in ten and says what it stands for
  code: |-
    settings.sampleEvery = '10';
    [1, 2, 10, 1].forEach((number) => {
      drawn = number;
      fire([tag(1)]);
    });
    assertThat(requests).hasLength(2);
    assertThat(requests[0].payload.weight).isEqualTo(10);
    assertThat(requests[1].payload.weight).isEqualTo(10);
- name: Sends every event without a weight unless told otherwise
  code: |-
    drawn = 2;
    [undefined, '', 1, '1', 0, -3, 'many'].forEach((every) => {
      settings.sampleEvery = every;
      fire([tag(1)]);
    });
    assertThat(requests).hasLength(7);
    requests.forEach((request) => assertThat(request.payload.weight).isUndefined());
    drawn = 1;
    settings.sampleEvery = 5000;
    fire([tag(1)]);
    assertThat(requests[7].payload.weight).isEqualTo(1000);
- name: Sends each event on which something failed for itself
  code: |-
    settings.sampleEvery = 10;
    drawn = 2;
    fire([tag(1), { id: 2, status: 'failure' }]);
    fire([{ id: 2, status: 'timeout' }]);
    fire([{ id: 2, status: 'unheard of' }]);
    [200, 302, 404, 500, 0].forEach((status) => {
      runCode(settings);
      listener('tagwarden_status', { tag: 1, status: status });
      callback('GTM-ABC1234', { tags: [tag(1)] });
    });
    assertThat(requests).hasLength(6);
    requests.forEach((request) => assertThat(request.payload.weight).isUndefined());
    settings.excludeTagIds = [{ tagId: '2' }];
    fire([tag(1), { id: 2, status: 'failure' }]);
    assertThat(requests).hasLength(6);
- name: Sends every event of a preview and every canary for itself
  code: |-
    settings.sampleEvery = 10;
    drawn = 2;
    version.previewMode = true;
    fire([tag(1)]);
    version.previewMode = false;
    event = { event_name: 'tagwarden_canary_0123456789abcdef0123' };
    fire([tag(1)]);
    assertThat(requests).hasLength(2);
    requests.forEach((request) => assertThat(request.payload.weight).isUndefined());
- name: Batched counts an event for as many as it stands for
  code: |-
    batched(21);
    settings.sampleEvery = 10;
    fire([{ id: 31, name: 'GA4', status: 'success', executionTime: 80 }]);
    drawn = 2;
    fire([{ id: 31, name: 'GA4', status: 'success', executionTime: 7 }]);
    fire([{ id: 31, name: 'GA4', status: 'failure', executionTime: 5 }]);
    drawn = 1;
    event = { event_name: 'page_view' };
    fire([{ id: 31, name: 'GA4', status: 'success', executionTime: 40 }]);
    assertThat(requests).hasLength(1);
    const sent = requests[0].payload;
    assertThat(sent.weight).isUndefined();
    assertThat(sent.total_events).isEqualTo(21);
    assertThat(sent.event_counts).isEqualTo({ purchase: 11, page_view: 10 });
    assertThat(sent.tag_metrics.GA4).isEqualTo({
      success: 20, failure: 1, timeout: 0, exception: 0, total_exec_ms: 1205, count: 21,
      consent_total: 21, ad_storage_denied: 11, analytics_storage_denied: 0
    });
    assertThat(sent.user_data_quality).isEqualTo({ email: 11, phone: 0, address: 11, total: 21 });
    assertThat(sent.ecommerce_quality.total).isEqualTo(11);
    assertThat(sent.ecommerce_quality.transaction_duplicate).isEqualTo(1);
    assertThat(sent.identifiers.total).isEqualTo(21);
    assertThat(sent.consent.ad_storage_denied).isEqualTo(11);
- name: Says whether parameters of the table were there on their events
  code: |-
    const sent = (rows) => {
      requests = [];
      settings.ownParameters = rows;
      fire([]);
      return requests[0].payload.fields;
    };
    assertThat(sent(undefined)).isUndefined();
    assertThat(sent([{ name: 'step', value: 1, eventName: 'begin_checkout' }, { name: ' ', value: 1 }])).isUndefined();
    assertThat(sent([
      { name: ' coupon ', value: 'SUMMER', eventName: ' purchase ' }, { name: 'group', value: undefined, eventName: '' },
      { name: 'zero', value: 0 }, { name: 'blank', value: '  ' }, { name: 'list', value: ['a'] }, { name: 'none', value: [] },
      { name: 'object', value: { a: 'b' } }, { name: 'empty', value: {} }, { name: 'yes', value: true }, { name: 'no', value: false }
    ])).isEqualTo({
      coupon: true, group: false, zero: true, blank: false, list: true, none: false, object: true, empty: false, yes: true, no: false
    });
    assertThat(Object.keys(sent([{ name: 'constructor', value: null }]))).isEqualTo(['constructor']);
    assertThat(sent([{ name: 'coupon', value: 'a' }, { name: 'coupon', value: '' }])).isEqualTo({ coupon: true });
- name: Takes no more than twenty parameters and cuts their names
  code: |-
    settings.ownParameters = [];
    for (let row = 0; row < 25; row++) settings.ownParameters.push({ name: textOf(300) + row, value: row });
    fire([]);
    assertThat(Object.keys(requests[0].payload.fields)).isEqualTo([textOf(256)]);
    settings.ownParameters = settings.ownParameters.map((row) => ({ name: 'parameter ' + row.value, value: row.value }));
    fire([]);
    assertThat(Object.keys(requests[1].payload.fields)).hasLength(20);
- name: Batched counts parameters of the table by the events that name them
  code: |-
    batched(3);
    settings.ownParameters = [{ name: 'coupon', value: 'SUMMER', eventName: 'purchase' }, { name: 'group', value: 'gold' }];
    fire([]);
    settings.ownParameters[0].value = '';
    fire([]);
    event.event_name = 'page_view';
    fire([]);
    assertThat(requests[0].payload.fields).isEqualTo({
      coupon: { present: 1, total: 2 }, group: { present: 3, total: 3 }
    });
    settings.sampleEvery = 10;
    batched(10);
    fire([]);
    assertThat(requests[1].payload.fields).isEqualTo({ group: { present: 10, total: 10 } });
- name: Batched sends no more than twenty parameters though the table changes
  code: |-
    const named = (from) => {
      const rows = [];
      for (let row = from; row < from + 20; row++) rows.push({ name: 'parameter ' + row, value: row });
      return rows;
    };
    batched(2);
    settings.ownParameters = named(0);
    fire([]);
    settings.ownParameters = named(10);
    fire([]);
    const fields = requests[0].payload.fields;
    assertThat(Object.keys(fields)).hasLength(20);
    assertThat(fields['parameter 0']).isEqualTo({ present: 1, total: 1 });
    assertThat(fields['parameter 10']).isEqualTo({ present: 2, total: 2 });
- name: Keeps nothing of what parameters hold
  code: |-
    batched(50);
    settings.ownParameters = [{ name: 'coupon', value: 'SUMMER-SECRET' }];
    fire([]);
    assertThat(JSON.stringify(stored).indexOf('SECRET')).isEqualTo(-1);
    assertThat(JSON.stringify(stored).indexOf('coupon') === -1).isFalse();
- name: Logs in preview mode only unless told otherwise
  code: |-
    answers = [answered(500), answered(500), answered(200), answered(500), answered(200), rejected(undefined)];
    fire([]);
    settings.logMode = 'failures';
    fire([]);
    fire([]);
    assertThat(logs).isEqualTo(['Tagwarden: purchase with 0 tags: answered 500']);
    version.debugMode = true;
    settings.logMode = 'off';
    fire([]);
    assertThat(logs).hasLength(1);
    settings.logMode = 'preview';
    fire([tag(1)]);
    assertThat(logs[1]).isEqualTo('Tagwarden: purchase with 1 tag: answered 200');
    fire([]);
    assertThat(logs[2]).isEqualTo('Tagwarden: purchase with 0 tags: failed');
    batched(1);
    fire([]);
    assertThat(logs[3]).isEqualTo('Tagwarden: batch of 1 event: answered 200');
- name: Logs why it failed
  code: |-
    settings.logMode = 'failures';
    settings.ingestKey = undefined;
    runCode(settings);
    settings.endpoint = 'monitor.example';
    runCode(settings);
    assertThat(logs).isEqualTo([
      'Tagwarden: the ingest key is missing',
      'Tagwarden: the ingest endpoint has to start with https://'
    ]);
setup: |-
  const JSON = require('JSON');
  const Object = require('Object');

  const settings = {
    endpoint: 'https://monitor.example/ingest',
    ingestKey: ' KEY ',
    trackUserData: true,
    sendMode: 'per_event',
    tagNameKey: 'name'
  };
  const version = { containerId: 'GTM-VERSION', debugMode: false, previewMode: false };
  let clientName = 'GA4';
  let now = 1795174917000;
  let event = {
    event_name: 'purchase',
    value: 99.5,
    currency: 'EUR',
    transaction_id: 'T-1001',
    items: [{ item_id: 'a' }],
    'x-ga-gcs': 'G101',
    client_id: 'c.1',
    user_data: { email_address: 'ada@example.com', address: [{ first_name: 'Ada', country: 'GB' }] }
  };
  let requests = [];
  let logs = [];
  let stored = {};
  let callback;
  let listener;

  // How the coming requests end; 200 when nothing is planned. While `pending` is a list, they end when a scenario says so.
  let answers = [];
  let pending = null;
  const answered = (status) => (onAnswer, onFailure) => onAnswer({ statusCode: status, headers: {}, body: '' });
  const rejected = (reason) => (onAnswer, onFailure) => onFailure(reason ? { reason: reason } : undefined);

  const copyOf = (value) => JSON.parse(JSON.stringify(value));
  const tag = (id) => ({ id: id, status: 'success', executionTime: 1 });
  const idsOf = (request) => request.payload.tags.map((reported) => reported.id);
  const batched = (size) => {
    settings.sendMode = 'batched';
    settings.batchSize = size;
  };
  const fire = (tags) => {
    runCode(settings);
    callback('GTM-ABC1234', { tags: tags });
  };
  const textOf = (length) => {
    let text = '';
    while (text.length < length) text = text + 'n';
    return text;
  };

  mock('getContainerVersion', () => version);
  mock('getClientName', () => clientName);
  mock('getEventData', (key) => event[key]);
  mock('getTimestampMillis', () => now);
  // What chance says of an event that is one in so many; the keys of requests are made of other numbers.
  let drawn = 1;
  mock('generateRandom', (least) => least === 1 ? drawn : 7);
  mock('addEventCallback', (registered) => {
    callback = registered;
  });
  mock('addMessageListener', (messageType, registered) => {
    listener = registered;
  });
  mock('logToConsole', (text) => {
    logs.push(text);
  });
  mockObject('templateDataStorage', {
    getItemCopy: (key) => stored[key] === undefined ? null : copyOf(stored[key]),
    setItemCopy: (key, value) => {
      stored[key] = copyOf(value);
    }
  });
  mock('sendHttpRequest', (url, options, body) => {
    requests.push({ url: url, options: options, payload: JSON.parse(body) });
    return {
      then: (onAnswer, onFailure) => {
        if (pending) pending.push({ onAnswer: onAnswer, onFailure: onFailure });
        else (answers.shift() || answered(200))(onAnswer, onFailure);
      }
    };
  });


___NOTES___

Source, issues and documentation: see README.md of this repository.
