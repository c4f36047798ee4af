// A provider of one's own, as promptfoo documents it: offline, and always the same.
module.exports = class {
  constructor(options) { this.name = options.config.name; this.said = options.config.said; }
  id() { return this.name; }
  async callApi(prompt) {
    const country = Object.keys(this.said).find((c) => prompt.includes(c));
    return { output: this.said[country] };
  }
};
