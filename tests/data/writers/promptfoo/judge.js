module.exports = class {
  id() { return 'my-judge'; }
  async callApi(prompt) {
    const good = /Paris|Rome/.test(prompt);
    return { output: JSON.stringify({ reason: good ? 'right' : 'wrong', pass: good, score: good ? 1 : 0.25 }) };
  }
};
